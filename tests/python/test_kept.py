"""resprout.mpi.Kept: what is put back by name. The calls of Resprout are played."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from resprout import mpi
from resprout.mpi import Kept


class Memory:
    """What is protected, and what a checkpoint of it has kept."""

    def __init__(self) -> None:
        self.regions: list[Any] = []
        self.kept: list[bytes] = []
        self.goes_back = False

    def checkpoint(self) -> None:
        if not self.goes_back:
            self.kept = [bytes(memoryview(region).cast("B")) for region in self.regions]
            return
        for region, kept in zip(self.regions, self.kept, strict=True):
            memoryview(region).cast("B")[:] = kept


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    some = Memory()
    monkeypatch.setattr(mpi, "protect", some.regions.append)
    monkeypatch.setattr(mpi, "checkpoint", some.checkpoint)
    return some


def make() -> Kept:
    return Kept(step=0, seen=["a"], field=numpy.zeros((2, 3)), counts=numpy.zeros(2, "i4"))


def test_the_next_process_has_what_was_kept(memory: Memory) -> None:
    before = make()
    before.step, before.field[1, 2] = 41, 2.5
    before.seen.append("b" * 1000)
    before.counts = numpy.array([3, 4], "i4")
    before.checkpoint()
    memory.regions.clear()
    memory.goes_back = True
    after = make()
    field = after.field
    after.checkpoint()
    assert (after.step, after.seen) == (41, ["a", "b" * 1000])
    assert field is after.field and field[1, 2] == 2.5
    assert after.counts.tolist() == [3, 4]


def test_who_names_something_else_is_told_so(memory: Memory) -> None:
    make().checkpoint()
    memory.regions.clear()
    memory.goes_back = True
    other = Kept(stride=0, field=numpy.zeros((2, 3)), counts=numpy.zeros(2, "i4"))
    with pytest.raises(RuntimeError, match="has kept counts, field, seen, step, which is not"):
        other.checkpoint()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda kept: setattr(kept, "field", numpy.zeros(6)), "another shape or type"),
        (lambda kept: setattr(kept, "more", 1), "name it before the first checkpoint"),
        (lambda kept: kept.nothing, "nothing is not kept"),
        (lambda kept: (kept.seen.append("c" * 70000), kept.checkpoint()), "room=131072"),
    ],
)
def test_mistakes_are_named(memory: Memory, change: Callable[[Kept], Any], words: str) -> None:
    kept = make()
    kept.checkpoint()
    with pytest.raises((AttributeError, ValueError), match=words):
        change(kept)
    assert memory.kept
