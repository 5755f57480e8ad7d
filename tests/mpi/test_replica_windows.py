"""Access to windows whose result may differ among replicas is refused where that would be harm."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "fetching"
RANKS = 2
TIMES = 100

VERIFIED = ("--verify", "async-hash")
STAND_IN = ("--on-replica-loss", "stand-in")
REMEDIES = {
    VERIFIED: "so it cannot be verified; run it with --verify none, or without --replicas",
    STAND_IN: "so replicas cannot stand in for each other; run it with --on-replica-loss end-plane",
    (*STAND_IN, *VERIFIED): "--on-replica-loss end-plane and --verify none",
}
CALLS = ["fetch_and_op", "compare_and_swap", "get_accumulate", "get", "rget", "rget_accumulate"]


def run(what: str, *options: str) -> jobs.Ended:
    return jobs.resprout_run(RANKS, [PROGRAM, what], ["--replicas", "2", *options])


@pytest.mark.parametrize(("call", "options"), covering.with_every_value(CALLS, list(REMEDIES)))
def test_the_first_call_that_may_give_something_else_is_refused(
    call: str, options: tuple[str, ...]
) -> None:
    ended = run(call, *options)
    assert (ended.status, ended.out) == (2, ""), str(ended)
    said = [line for line in ended.err.splitlines() if f"MPI_{call.capitalize()} " in line]
    assert said and REMEDIES[options] in said[0], str(ended)


@pytest.mark.parametrize("options", [VERIFIED, STAND_IN])
def test_what_gives_the_same_is_carried(options: tuple[str, ...]) -> None:
    ended = run("writes", *options)
    assert (ended.status, ended.out) == (0, f"{TIMES * RANKS}\n"), str(ended)


def test_planes_that_need_not_agree_have_it() -> None:
    ended = run("fetch_and_op")
    assert (ended.status, ended.out) == (0, f"{TIMES * RANKS}\n"), str(ended)
