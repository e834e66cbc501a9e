"""Seeds from tables: the generator's state, when a table is made, and whose it is. `tests/gpu/test_rng.py` compares the
numbers with PyTorch's."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

from fusewright.prims.philox import philox4x32
from fusewright.run import internals, random_ops, seed_table

CUDA = torch.device("cuda", 0)


class Generator:
    """As a CUDA device's."""

    def __init__(self) -> None:
        self.seed, self.offset = 7, 0

    def initial_seed(self) -> int:
        return self.seed

    def get_offset(self) -> int:
        return self.offset

    def set_offset(self, offset: int) -> None:
        assert offset % 4 == 0
        self.offset = offset


class Machine(SimpleNamespace):
    generator: Generator
    stream: int
    capturing: bool
    uploads: list[tuple[int, int]]

    def draw(self, n: int = 3) -> list[int] | None:
        """A draw from a table, or None where PyTorch draws, which moves the offset, too."""
        offset = self.generator.offset
        found = seed_table.draw(n, CUDA)
        if found is None:
            assert self.generator.offset == offset
            self.generator.offset += 4
            return None
        assert self.generator.offset == offset + 4
        return found.tolist()

    def want(self, offset: int, n: int = 3) -> list[int]:
        return seed_table.table(self.generator.seed, offset, 1, n)[0].tolist()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    m = Machine(generator=Generator(), stream=1, capturing=False, uploads=[])

    def copied(host: torch.Tensor, index: int) -> torch.Tensor:
        m.uploads.append(tuple(host.shape))
        return host.clone()

    monkeypatch.setattr(seed_table, "_known", type(seed_table._known)())
    monkeypatch.setattr(seed_table, "copied", copied)
    monkeypatch.setattr(internals, "raw_stream", lambda index: m.stream)
    monkeypatch.setattr(internals, "capturing", lambda: m.capturing)
    monkeypatch.setattr(torch.cuda, "default_generators", (m.generator,))
    yield m


def test_numbers_by_hand() -> None:
    """As `random_from_to` of ATen: 64 bits of the thread's first Philox block, and the range is 2^64 - 1."""
    seed, offset = 0x123456789ABCDEF0, 4 * ((1 << 33) + 5)
    got = seed_table.table(seed, offset, 2, 3)
    for row in range(2):
        for k in range(3):
            block = offset // 4 + row
            counter = tuple(np.array([c], np.uint64) for c in (block & 0xFFFFFFFF, block >> 32, k, 0))
            x, y, _, _ = philox4x32(counter, (seed & 0xFFFFFFFF, seed >> 32))
            assert int(got[row, k]) == (int(x[0]) << 32 | int(y[0])) % ((1 << 64) - 1) - (1 << 63)


def test_a_table_after_some_draws(machine: Machine) -> None:
    drawn = [machine.draw() for _ in range(200)]
    assert drawn[: seed_table.PATIENCE] == [None] * seed_table.PATIENCE and None not in drawn[seed_table.PATIENCE + 1 :]
    assert all(d in (None, machine.want(4 * k)) for k, d in enumerate(drawn))
    assert machine.uploads == [(seed_table.NUMBERS // 3, 3)]


def test_the_next_table_at_once(machine: Machine) -> None:
    rows = seed_table.NUMBERS // 3
    drawn = [machine.draw() for _ in range(rows + 100)]
    assert drawn.count(None) <= seed_table.PATIENCE + 1 and len(machine.uploads) == 2
    assert drawn[-1] == machine.want(4 * (rows + 99))


def test_a_state_that_was_before(machine: Machine) -> None:
    """As checkpointing restores it to compute a part again."""
    for _ in range(100):
        machine.draw()
    first = [machine.draw() for _ in range(5)]
    machine.generator.offset -= 20
    assert [machine.draw() for _ in range(5)] == first and None not in first


def test_other_seeds(machine: Machine) -> None:
    for _ in range(100):
        machine.draw()
    machine.generator.seed, machine.generator.offset = 8, 0
    assert machine.draw() is None  # of this state there is no table
    drawn = [machine.draw() for _ in range(100)]
    assert drawn[-1] == machine.want(400)


def test_a_seed_for_every_step_makes_no_tables(machine: Machine) -> None:
    for step in range(300):
        machine.generator.seed, machine.generator.offset = step, 0
        assert machine.draw() is None and machine.draw() is None
    assert not machine.uploads


def test_draws_far_apart_make_few_tables(machine: Machine) -> None:
    for step in range(2000):
        machine.draw()
        if step % 40 == 0:
            machine.generator.offset += 1 << 20
    assert len(machine.uploads) < 5


def test_streams_and_numbers_have_tables_of_their_own(machine: Machine) -> None:
    for _ in range(100):
        machine.draw()
    machine.stream = 2
    assert machine.draw() is None
    machine.stream = 1
    assert machine.draw() is not None and machine.draw(2) is None
    assert len(machine.uploads) == 1


def test_not_while_capturing_and_not_of_many(machine: Machine) -> None:
    for _ in range(100):
        machine.draw()
    machine.capturing = True
    assert machine.draw() is None
    machine.capturing = False
    assert machine.draw() is not None
    assert all(machine.draw(seed_table.MOST + 1) is None for _ in range(100))


def test_a_generator_that_does_not_say_its_state(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise RuntimeError("Cannot call CUDAGeneratorImpl::philox_offset_per_thread during CUDA graph capture")

    for _ in range(100):
        machine.draw()
    monkeypatch.setattr(machine.generator, "get_offset", refuse)
    assert seed_table.draw(3, CUDA) is None


def test_the_table_is_of_no_mode(machine: Machine) -> None:
    """A draw may be saved for a backward pass, of a table made in inference mode or in a trace, too."""
    with torch.inference_mode(), FakeTensorMode():
        for _ in range(100):
            seed_table.draw(3, CUDA)
            machine.generator.offset += 4
    (found,) = seed_table._known.values()
    assert type(found.numbers) is torch.Tensor and not found.numbers.is_inference()
    assert not seed_table.draw(3, CUDA).is_inference()


def test_without_the_private_name_torch_draws(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "without_modes", None)
    assert all(machine.draw() is None for _ in range(100))


def test_on_a_cpu_the_generator_draws() -> None:
    torch.manual_seed(3)
    want = torch.empty(4, dtype=torch.int64).random_(-(2**63), 2**63 - 1)
    torch.manual_seed(3)
    assert torch.equal(random_ops.draw_seeds(4, torch.device("cpu")), want)
