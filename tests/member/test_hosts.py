"""Members on three hosts whose links are cut and healed: a quorum goes on, the others say that they
are isolated and stay in their view, and in the end all are in one view again.

Whoever is accused wrongly on a busy machine comes back by itself, so the end is the same.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import namespaces
import pytest
from groups import Group, Process

HOSTS = "ABC"
PERIOD_MS = 200
TIMEOUT_MS = 3000
RADIX = 4


@pytest.fixture(scope="module", autouse=True)
def three_hosts() -> Iterator[None]:
    with namespaces.up(len(HOSTS)):
        yield


class OnHost(Process):
    """`resprout member --json`, run on a host."""

    def __init__(self, host: str, join: str | None, order: Path | None = None) -> None:
        self.events = []
        self._rest = b""
        self.host = host
        command = [namespaces.TOOL, "in", host, sys.executable, "-m", "resprout", "member"]
        command += ["--listen", f"{namespaces.address(host)}:0", "--json", "--radix", str(RADIX)]
        command += ["--heartbeat-period", str(PERIOD_MS), "--heartbeat-timeout", str(TIMEOUT_MS)]
        command += ["--join", join] if join else []
        command += ["--order", str(order)] if order else []
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._child.stdout is not None
        self.pid, self.pipe = self._child.pid, self._child.stdout.fileno()

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()


class Network(Group):
    """Members on hosts, which join one after the other."""

    def __init__(self, places: str) -> None:
        super().__init__()
        for host in places:
            self.join(host)
        self.settle()
        self.ids = {process.id for process in self.processes}

    def join(self, host: str, order: Path | None = None) -> OnHost:
        """One that joins the first one, or is it; it is in a view then."""
        friend = self.processes[0].address if self.processes else None
        process = OnHost(host, friend, order)
        self.processes.append(process)
        self.wait(lambda: process.view[0] > 0)
        return process

    def on(self, hosts: str) -> list[Process]:
        return [p for p in self.processes if p.host in hosts]

    def signal(self, number: int) -> None:
        for process in self.processes:
            os.kill(process.pid, number)

    def wait_for_view(self, processes: Iterable[Process], hosts: str) -> None:
        """Until these are in one view, of exactly the members on these hosts."""
        wanted = tuple(sorted(p.id for p in self.on(hosts)))
        some = list(processes)
        self.wait(lambda: {p.view[1] for p in some} == {wanted} and len({p.view for p in some}) < 2)

    def wait_for_isolation(self, hosts: str) -> None:
        self.wait(lambda: all(p.said("isolated") for p in self.on(hosts)))

    def come_together(self) -> None:
        """Until all are in one view under their identifiers; no epoch may have had two."""
        self.agree(self.ids)


@pytest.fixture
def network() -> Iterator[type[Network]]:
    """Makes networks; what was cut is healed, and no process outlives the test."""
    made: list[Network] = []

    class Made(Network):
        def __init__(self, places: str) -> None:
            made.append(self)
            super().__init__(places)

    yield Made
    namespaces.heal(*HOSTS)
    for one in made:
        one.end()


def test_the_side_with_the_majority_goes_on_and_the_others_come_back(
    network: type[Network],
) -> None:
    members = network("AABBCC")
    before = members.processes[0].view
    namespaces.cut("B")
    members.wait_for_view(members.on("AC"), "AC")
    members.wait_for_isolation("B")
    assert all(p.view == before for p in members.on("B")), "who is isolated stays in its view"
    namespaces.heal("B")
    members.come_together()
    assert all(p.said("excluded") for p in members.on("B"))


def test_a_majority_goes_on_without_the_root_which_is_not_root_meanwhile(
    network: type[Network],
) -> None:
    members = network("ABBCC")
    namespaces.cut("A")
    members.wait_for_view(members.on("BC"), "BC")
    members.wait_for_isolation("A")
    assert members.on("B")[0].said("view")[-1]["root"] != 0
    namespaces.heal("A")
    members.come_together()


def test_of_two_halves_the_one_with_the_root_goes_on(network: type[Network]) -> None:
    members = network("AABB")
    namespaces.cut("B")
    members.wait_for_view(members.on("A"), "A")
    members.wait_for_isolation("B")
    namespaces.heal("B")
    members.come_together()


def test_where_nobody_has_a_quorum_nobody_goes_on(network: type[Network]) -> None:
    members = network("AABBCC")
    before = members.processes[0].view
    # At one moment for all: nobody runs while a part of the links is cut.
    members.signal(signal.SIGSTOP)
    namespaces.cut(*HOSTS)
    members.signal(signal.SIGCONT)
    members.wait_for_isolation(HOSTS)
    assert {p.view for p in members.processes} == {before}
    namespaces.heal(*HOSTS)
    members.come_together()


def test_who_goes_on_admits_others_and_loses_some_while_the_rest_is_cut_off(
    network: type[Network],
) -> None:
    """What comes back comes into a view that has moved on."""
    members = network("AAABBC")
    namespaces.cut("C")
    members.wait_for_view(members.on("AB"), "AB")
    lost = members.on("B")[0].id
    members.kill(lost)
    members.ids.remove(lost)
    members.wait_for_view(members.on("AB"), "AB")
    new = OnHost("A", members.on("B")[0].address)
    members.processes.append(new)
    members.wait(lambda: new.view[0] > 0)
    members.ids.add(new.id)
    members.wait_for_view(members.on("AB"), "AB")
    namespaces.heal("C")
    members.come_together()


def test_members_of_a_host_stand_together_in_the_tree(network: type[Network]) -> None:
    """They come in turns; all but the first on each host have their parent there."""
    members = network("ABCABCABC")
    host = {p.id: p.host for p in members.processes}
    between = [p for p in host if p > 0 and host[p] != host[(p - 1) // RADIX]]
    assert len(between) == len(HOSTS) - 1


def test_a_place_in_an_order_is_for_its_host_also_after_a_death_there(
    network: type[Network], tmp_path: Path
) -> None:
    """The order of the last one has it where a member on another host has died."""
    orders = {host: tmp_path / host for host in "AC"}
    orders["A"].write_text("".join(f"{namespaces.address(host)}\n" for host in "CBA"))
    orders["C"].write_text("".join(f"{namespaces.address(host)}\n" for host in "ACB"))
    members = network("")
    assert [members.join(host, orders["A"]).id for host in "AB"] == [2, 1]
    members.kill(1)
    members.agree({2})
    assert members.join("C", orders["C"]).id > 2
    assert members.join("B", orders["A"]).id == 1
    members.settle()
