"""Small models with random weights, and the batches they are trained on.

Each builder returns a module whose forward takes the batch's tensors and returns a scalar loss. Dropout is off:
its random stream is ours, not eager's, and it has tests of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the configurations are built here: nothing may be downloaded

import torch
import torch.nn.functional as F
from torch import nn

Batch = dict[str, torch.Tensor]


class LossOf(nn.Module):
    """A transformers model, reduced to the loss that it computes from its labels."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, **batch: Any) -> torch.Tensor:
        return self.model(**batch).loss


def _tokens(batch: int, length: int, vocabulary: int, seed: int) -> Batch:
    gen = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, vocabulary, (batch, length), generator=gen)
    return {"input_ids": ids, "labels": ids.clone()}


def gpt() -> tuple[nn.Module, Callable[[int], Batch]]:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=96, n_positions=32, n_embd=48, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
    )
    config.use_cache = False
    return LossOf(GPT2LMHeadModel(config)), lambda seed: _tokens(3, 17, 96, seed)


def llama() -> tuple[nn.Module, Callable[[int], Batch]]:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=96,
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        use_cache=False,
    )
    return LossOf(LlamaForCausalLM(config)), lambda seed: _tokens(2, 19, 96, seed)


def bert() -> tuple[nn.Module, Callable[[int], Batch]]:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=96,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )

    def batch(seed: int) -> Batch:
        made = _tokens(3, 16, 96, seed)
        made["attention_mask"] = torch.ones(3, 16, dtype=torch.long)
        made["attention_mask"][0, 11:] = 0
        made["labels"][0, 11:] = -100  # the index that cross-entropy ignores
        return made

    return LossOf(BertForMaskedLM(config)), batch


def vit() -> tuple[nn.Module, Callable[[int], Batch]]:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        image_size=32,
        patch_size=8,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=5,
    )

    def batch(seed: int) -> Batch:
        gen = torch.Generator().manual_seed(seed)
        return {
            "pixel_values": torch.randn(3, 3, 32, 32, generator=gen),
            "labels": torch.randint(0, 5, (3,), generator=gen),
        }

    return LossOf(ViTForImageClassification(config)), batch


class Block(nn.Module):
    """A residual block: two convolutions with batch normalization, and a projection where the size changes."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.skip: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.skip = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.skip(x)
        return F.relu(y)


class ResNet(nn.Module):
    """A small residual network that ends in cross-entropy."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(2)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 16, 1))
        self.head = nn.Linear(16, 7)

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        y = self.blocks(self.pool(self.stem(images)))
        return F.cross_entropy(self.head(y.mean((2, 3))), labels, label_smoothing=0.1)


def resnet() -> tuple[nn.Module, Callable[[int], Batch]]:
    def batch(seed: int) -> Batch:
        gen = torch.Generator().manual_seed(seed)
        return {
            "images": torch.randn(4, 3, 20, 20, generator=gen),
            "labels": torch.randint(0, 7, (4,), generator=gen),
        }

    return ResNet(), batch


class WrittenLSTM(nn.Module):
    """An LSTM cell in primitive operations, unrolled over the time steps."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.wx = nn.Linear(inputs, 4 * hidden)
        self.wh = nn.Linear(hidden, 4 * hidden, bias=False)
        self.out = nn.Linear(hidden, inputs)
        self.hidden = hidden

    def forward(self, sequence: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        h = sequence.new_zeros(sequence.shape[1], self.hidden)
        c = torch.zeros_like(h)
        states = []
        for x in sequence.unbind(0):
            i, f, g, o = (self.wx(x) + self.wh(h)).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return F.mse_loss(self.out(torch.stack(states)), target)


def lstm() -> tuple[nn.Module, Callable[[int], Batch]]:
    def batch(seed: int) -> Batch:
        gen = torch.Generator().manual_seed(seed)
        sequence = torch.randn(6, 3, 10, generator=gen)
        return {"sequence": sequence, "target": sequence.roll(-1, 0)}

    return WrittenLSTM(10, 24), batch


class GraphLayers(nn.Module):
    """Message passing: gather node features by edge, weigh them, scatter the sums back; then a mean per graph."""

    def __init__(self, features: int, layers: int = 2):
        super().__init__()
        self.message = nn.ModuleList(nn.Linear(2 * features, features) for _ in range(layers))
        self.gate = nn.ModuleList(nn.Linear(features, 1) for _ in range(layers))
        self.norm = nn.ModuleList(nn.LayerNorm(features) for _ in range(layers))
        self.head = nn.Linear(features, 1)

    def forward(
        self, nodes: torch.Tensor, source: torch.Tensor, target: torch.Tensor, graph: torch.Tensor, want: torch.Tensor
    ) -> torch.Tensor:
        x = nodes
        for message, gate, norm in zip(self.message, self.gate, self.norm, strict=True):
            m = F.gelu(message(torch.cat([x[source], x.index_select(0, target)], -1)))
            m = m * torch.sigmoid(gate(m))
            gathered = torch.zeros_like(x).index_add(0, target, m)
            degree = x.new_zeros(x.shape[0]).scatter_add(0, target, x.new_ones(target.shape[0]))
            x = norm(x + gathered / degree.clamp(min=1).unsqueeze(-1))
        sums = x.new_zeros(want.shape[0], x.shape[1]).index_add(0, graph, x)
        return F.smooth_l1_loss(self.head(sums).squeeze(-1), want)


def gnn() -> tuple[nn.Module, Callable[[int], Batch]]:
    def batch(seed: int) -> Batch:
        gen = torch.Generator().manual_seed(seed)
        return {
            "nodes": torch.randn(30, 16, generator=gen),
            "source": torch.randint(0, 30, (90,), generator=gen),
            "target": torch.randint(0, 30, (90,), generator=gen),
            "graph": torch.randint(0, 4, (30,), generator=gen).sort().values,
            "want": torch.randn(4, generator=gen),
        }

    return GraphLayers(16), batch


MODELS: dict[str, Callable[[], tuple[nn.Module, Callable[[int], Batch]]]] = {
    "gpt": gpt,
    "llama": llama,
    "bert": bert,
    "vit": vit,
    "resnet": resnet,
    "lstm": lstm,
    "gnn": gnn,
}
