"""Inter-communicators that lose a member: what is made of them ends at all who live alike."""

import re

import jobs
import other_mpis
import pytest

PROGRAM = jobs.PROGRAMS / "groups_lose"
NAMES = {
    "merge": "intercomm_merge",
    "dup": "comm_dup",
    "split": "comm_split",
    "create": "comm_create",
    "shrink": "comm_shrink",
    "free": "comm_free",
    "agree": "comm_agree",
    "pair": "intercomm_create",
}


def said_by_all(ended: jobs.Ended, living: list[int]) -> set[str]:
    """What they have said of the last round; fails unless each has said one thing."""
    lines = [line.removeprefix("rank ").split(": ", 1) for line in ended.out.splitlines()]
    assert (ended.status, sorted(int(rank) for rank, _ in lines)) == (0, living), str(ended)
    return {said for _, said in lines}


@pytest.mark.parametrize("ranks", [2, 4, 5])
@pytest.mark.parametrize("call", [*NAMES, "revoke"])
def test_all_of_them_work_while_nobody_is_lost(call: str, ranks: int) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, call, "3" if call != "revoke" else "1"])
    everybody = sum(range(1, ranks + 1))
    said = said_by_all(ended, list(range(ranks)))
    if call == "revoke":
        assert said == {"1 revoked 0"}, str(ended)
    elif call in ("agree", "free"):
        assert said == {"3 well 0"}, str(ended)
    elif call not in ("split", "create"):
        assert said == {f"3 well {everybody}"}, str(ended)
    else:
        assert all(line.startswith("3 well ") for line in said), str(ended)


def made_without(call: str, victim: int, ranks: int) -> str:
    """What all who live say after the first round, in which the victim dies."""
    living = sum(range(1, ranks + 1)) - (victim + 1)
    if call in ("merge", "shrink"):
        return f"1 well {living}"
    return "1 failed 0"


@pytest.mark.parametrize(("ranks", "victim"), [(4, 0), (4, 2), (5, 1), (6, 5)])
@pytest.mark.parametrize("call", ["merge", "dup", "split", "create", "shrink", "agree", "pair"])
def test_one_that_dies_when_it_comes_to_the_call(call: str, ranks: int, victim: int) -> None:
    at = 2 if call == "pair" else 1
    fault = f"kill:rank={victim},at={NAMES[call]}#{at}"
    if call == "split":
        fault = f"kill:rank={victim},at=comm_split#2"
    ended = jobs.resprout_run(ranks, [PROGRAM, call], ["--inject", fault])
    living = [rank for rank in range(ranks) if rank != victim]
    assert said_by_all(ended, living) == {made_without(call, victim, ranks)}, str(ended)
    assert ended.lost == {victim}, str(ended)
    # Which calls of its own a call makes is not the program's business.
    assert not re.search(r"an error: .*of (bcast|sendrecv|barrier)", ended.err), str(ended)


@pytest.mark.parametrize("library", other_mpis.PREFIXES)
@pytest.mark.parametrize("call", ["merge", "dup", "split", "create", "agree", "pair"])
def test_one_that_dies_when_it_comes_to_the_call_of_another_mpi(call: str, library: str) -> None:
    prefix = other_mpis.PREFIXES[library]
    other_mpis.need(prefix)
    fault = f"kill:rank=1,at={NAMES[call]}#{2 if call in ('pair', 'split') else 1}"
    options = [*other_mpis.options(prefix), "--inject", fault]
    ended = jobs.resprout_run(4, [other_mpis.program("groups_lose"), call], options)
    assert said_by_all(ended, [0, 2, 3]) == {made_without(call, 1, 4)}, str(ended)
    assert ended.lost == {1}, str(ended)


@pytest.mark.parametrize("at", [4, 31, 60, 110])
@pytest.mark.parametrize("call", ["merge", "dup", "pair", "free"])
def test_one_that_dies_at_any_moment(call: str, at: int) -> None:
    victim = at % 5
    ended = jobs.resprout_run(
        5, [PROGRAM, call, "400"], ["--inject", f"kill:rank={victim},at={at}ms"]
    )
    living = [rank for rank in range(5) if rank not in ended.lost]
    said = said_by_all(ended, living)
    assert len(said) == 1 and "otherwise" not in said.pop(), str(ended)
