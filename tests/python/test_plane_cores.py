"""Shares of cores: how they are dealt, and that processes really move when planes come and go."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from resprout.launch.planes.cores import Cores, shares

ALL = frozenset(os.sched_getaffinity(0))
# None of the first plane's share, if there are two cores.
BOUND = frozenset({max(ALL)})


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 7, 64])
@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_shares_cover_all_cores_and_are_equally_large(cores: int, planes: int) -> None:
    dealt = shares(range(cores), planes)
    assert set().union(*dealt) == set(range(cores))
    assert all(dealt)
    if cores % planes == 0:
        assert {len(one) for one in dealt} == {cores // planes}
        assert sum(map(len, dealt)) == cores


def test_three_planes_on_two_cores_have_one_each_and_one_has_both() -> None:
    assert shares([4, 6], 3) == [{4}, {4, 6}, {6}]


class _Plane:
    """Two processes of a plane, one of which has bound itself to some core."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []

    def begin(self, cores: frozenset[int]) -> None:
        environment = {**os.environ, "RESPROUT_RUN_DIR": str(self.directory)}
        for own in (cores, BOUND):
            process = subprocess.Popen(["sleep", "60"], env=environment)
            os.sched_setaffinity(process.pid, own)
            self._processes.append(process)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()

    @property
    def cores(self) -> set[int]:
        return os.sched_getaffinity(self._processes[0].pid)

    @property
    def own_cores(self) -> set[int]:
        return os.sched_getaffinity(self._processes[1].pid)


@pytest.fixture
def planes(tmp_path: Path) -> Iterator[list[_Plane]]:
    made = [_Plane(tmp_path / name) for name in ("a", "b", "c")]
    yield made
    for plane in made:
        plane.end()


def test_who_is_left_has_all_cores_and_makes_room_for_who_comes_back(planes: list[_Plane]) -> None:
    first, second, again = planes
    cores = Cores([first.directory, second.directory])
    for plane in (first, second):
        plane.begin(cores.of(plane.directory))
    low, high = shares(sorted(ALL), 2)
    assert (first.cores, second.cores) == (low, high)

    second.end()
    cores.remove(second.directory)
    assert first.cores == ALL
    assert first.own_cores == BOUND

    again.begin(cores.of(again.directory))
    assert (first.cores, again.cores) == (low, high)
    assert first.own_cores == BOUND
