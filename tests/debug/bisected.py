"""A script with a fault: a small transformer of twelve layers, in one of which a kernel is planted that is wrong.

python bisected.py [LAYER]      fails (exit status 1) if the results are not those of eager; LAYER -1: no fault
"""

from __future__ import annotations

import sys

import torch
from torch import nn

from fusewright.emit import llvm_rules

LAYER = int(sys.argv[1]) if len(sys.argv) > 1 else 7


class Layer(nn.Module):
    def __init__(self, index: int):
        super().__init__()
        self.index = index
        self.norm, self.mix, self.up, self.down = (
            nn.LayerNorm(16),
            nn.Linear(16, 16),
            nn.Linear(16, 32),
            nn.Linear(32, 16),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.mix(self.norm(x))
        x = x + torch.softmax(q @ q.transpose(-1, -2) / 4, -1) @ q
        h = self.up(self.norm(x))
        if self.index == LAYER:
            return x + self.down(h * h.sinh())  # the guilty line
        return x + self.down(h * h.sigmoid())


torch.manual_seed(0)
model = nn.Sequential(*(Layer(k) for k in range(12)))
x = torch.randn(2, 5, 16)
llvm_rules.RULES["sinh"] = llvm_rules.RULES["cosh"]
with torch.no_grad():
    compiled = torch.compile(model, backend="fusewright")(x)
    if not torch.allclose(compiled, model(x), atol=1e-3):
        print("the results differ")
        raise SystemExit(1)
print("the results agree")
