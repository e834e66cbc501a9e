"""One recorded graph of a plan: where its operands are, what its results become, and whether its memory is free.

Operands are used where they are, if they are there again at every call; else they are copied into memory of the
graph's. Results are new tensors on the graph's own memory, which the next replay writes over: so there is none while
anything but this file refers to that memory. Reference counts tell, as in `pool.py`. Small results that are known to be
kept for long are copied instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import torch

from ..core.errors import Refusal
from .internals import storage_uses
from .recordable import Facts
from .recorder import Recorder, Run

_data_ptr = torch.Tensor.data_ptr
_storage_ptr = torch.UntypedStorage.data_ptr
Operands = list[torch.Tensor]


class Replay:
    """A plan, recorded for some operands.

    `fixed`: operands that are used where they are, `pointers`: where; `copies`: the others; `copied`: results of which
    callers get copies, as far as they can be copied; `replays`: how often it ran; `used`: when last.
    """

    def __init__(
        self,
        recorder: Recorder,
        run: Run,
        about: Facts,
        args: list[Any],
        operands: Operands,
        copies: Iterable[int],
        copied: Iterable[int],
    ):
        """`operands`: as `Facts` says, of this call.

        Raises Refusal when the results cannot be handed out again, and what `Recorder.record` raises.
        """
        positions = about.tensors
        self.copies, self.copied = tuple(sorted(copies)), frozenset(copied)
        self.fixed = tuple(k for k in range(len(operands)) if k not in self.copies and k not in about.unread)
        self._pick = _picker(self.fixed)
        self.pointers = list(map(_data_ptr, self._pick(operands)))
        self.replays = self.used = 0
        static, self._into, self._from = list(args), [], []
        for k in self.copies:
            narrow, size = compact(operands[k])
            base = torch.empty_strided(narrow.size(), narrow.stride(), dtype=narrow.dtype, device=narrow.device)
            with torch.no_grad():
                base.copy_(narrow)
            static[positions[k]] = base.expand(size)
            self._into.append(base)
            self._from.append(k)
        inside = [static[p] for p in positions] + operands[len(positions) :]
        self.graph, results = recorder.record(run, list(static))
        self.kept: list[torch.Tensor] = []  # on the graph's memory, one for each result there
        self.result_of: list[int] = []  # which result
        for j, r in enumerate(results):
            if isinstance(r, torch.Tensor) and r.device != about.device and j not in about.unset:
                raise Refusal("cuda_graphs", f"a result is on {r.device}")
        self._results = self._writer(results, inside, positions)
        del results, static, inside
        self._storages = [t.untyped_storage() for t in self.kept]
        self._addresses = list(map(attrgetter("_cdata"), self._storages))
        self._memory = list(map(_storage_ptr, self._storages))
        self._free = self._references()

    # --- may it run ---
    def fits(self, operands: Operands) -> bool:
        """Whether the operands are where they were."""
        return list(map(_data_ptr, self._pick(operands))) == self.pointers

    def moved(self, operands: Operands) -> list[int]:
        """The operands that are not where they were."""
        return [k for k, at in zip(self.fixed, self.pointers, strict=True) if operands[k].data_ptr() != at]

    def free(self) -> bool:
        """Whether nobody can see the results of the last replay any more."""
        return self._references() == self._free and list(map(_storage_ptr, self._storages)) == self._memory

    def _references(self) -> list[tuple[int, int]]:
        """References to the storage of each kept tensor, from Python and from C++; as in `pool.py`, both at once."""
        return list(zip(map(sys.getrefcount, self._storages), map(storage_uses, self._addresses)))  # noqa: B905

    def held(self, limit: int) -> list[int]:
        """The results of at most `limit` bytes that somebody can still see."""
        seen = zip(self.result_of, self.kept, self._references(), self._free, strict=True)
        return [j for j, t, now, free in seen if now != free and t.numel() * t.itemsize <= limit]

    def replaces(self, other: Replay) -> bool:
        """Whether this one, just made, can run whenever `other` could, and more."""
        where = dict(zip(other.fixed, other.pointers, strict=True))
        same = all(where.get(k) == at for k, at in zip(self.fixed, self.pointers, strict=True))
        more = set(self.copies) >= set(other.copies) and self.copied >= other.copied
        return same and more and (self.copies != other.copies or self.copied != other.copied)

    # --- running ---
    def __call__(self, args: list[Any], operands: Operands) -> list[Any]:
        """Run for operands that fit, with the results' memory free; empties `args`."""
        if self._into:
            with torch.no_grad():
                given = [compact(operands[k])[0] for k in self._from]
                if len(given) == 1:
                    self._into[0].copy_(given[0])
                else:
                    torch._foreach_copy_(self._into, given)
        self.graph.replay()
        self.replays += 1
        out = self._results(args, operands)
        args.clear()
        return out

    # --- results ---
    def _writer(
        self, results: list[Any], operands: Operands, positions: Sequence[int]
    ) -> Callable[[list[Any], Operands], list[Any]]:
        """A function of a call's arguments and operands that makes its results; fills `kept`.

        An argument is returned as it was given, a view of one is a view of what was given. Results that share memory
        share it again, as views of the first, so that a write into one counts as a write into all.
        """
        lines: list[str] = []
        scope: dict[str, Any] = {}
        first: dict[int, int] = {}  # storage -> the first result on it
        uses: dict[int, int] = {}
        for r in results:
            if isinstance(r, torch.Tensor):
                uses[_storage(r)] = uses.get(_storage(r), 0) + 1
        given = {_storage(t): k for k, t in reversed(list(enumerate(operands)))}
        for j, r in enumerate(results):
            if not isinstance(r, torch.Tensor):
                scope[f"v{j}"] = r
                lines.append(f"r{j} = v{j}")
                continue
            at = _storage(r)
            same = next((k for k, t in enumerate(operands) if t is r), None)
            again = next((k for k in range(j) if results[k] is r), None)
            if same is not None:
                lines.append(f"r{j} = args[{positions[same]}]" if same < len(positions) else f"r{j} = operands[{same}]")
            elif again is not None:
                lines.append(f"r{j} = r{again}")
            elif at in given:
                lines.append(f"r{j} = {_view(f'operands[{given[at]}]', operands[given[at]], r)}")
            elif at in first:
                lines.append(f"r{j} = {_view(f'r{first[at]}', results[first[at]], r)}")
            else:
                first[at] = j
                scope[f"k{j}"] = r
                lines.append(f"r{j} = k{j}.data")
                if j in self.copied and uses[at] == 1 and torch.empty_like(r).stride() == r.stride():
                    lines[-1] = f"r{j} = k{j}.clone()"
                self.kept.append(r)
                self.result_of.append(j)
        lines.append(f"return [{', '.join(f'r{j}' for j in range(len(results)))}]")
        source = "def results(args, operands):\n" + "\n".join(f"    {s}" for s in lines)
        exec(compile(source, "<fusewright results>", "exec"), scope)
        made: Callable[[list[Any], Operands], list[Any]] = scope["results"]
        return made


def _storage(t: torch.Tensor) -> int:
    address: int = t.untyped_storage()._cdata
    return address


def _view(name: str, base: torch.Tensor, t: torch.Tensor) -> str:
    """Source of a view like `t` of `name`, which is laid out like `base`. Raises Refusal."""
    if t.dtype is not base.dtype or t.is_conj() != base.is_conj() or t.is_neg() != base.is_neg():
        raise Refusal("cuda_graphs", "a result is a view in another type")
    offset = t.storage_offset() - base.storage_offset()
    return f"{name}.as_strided({tuple(t.shape)}, {t.stride()}, {name}.storage_offset() + {offset})"


def _picker(indices: tuple[int, ...]) -> Callable[[Operands], Sequence[torch.Tensor]]:
    """A function from a list to some of its items."""
    if len(indices) > 1:
        return itemgetter(*indices)
    return lambda operands: [operands[k] for k in indices]


def compact(t: torch.Tensor) -> tuple[torch.Tensor, torch.Size]:
    """(`t` with one element wherever it repeats one, its size): `t` is the former, expanded.

    The same object if nothing is repeated. Raises Refusal for tensors that overlap themselves in other ways.
    """
    strides = t.stride()
    if t.is_contiguous():
        return t, t.shape
    size = t.shape
    if 0 in strides:
        for d, s in enumerate(strides):
            if s == 0 and size[d] > 1:
                t = t.narrow(d, 0, 1)
    reach = 0
    for n, s in sorted(((n, s) for n, s in zip(t.shape, t.stride(), strict=True) if n > 1), key=lambda x: x[1]):
        if s <= reach:
            raise Refusal("cuda_graphs", "an argument overlaps itself")
        reach += (n - 1) * s
    return t, size


__all__ = ["Replay", "compact"]
