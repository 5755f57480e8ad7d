"""Messages that are larger than their buffers (MPI_ERR_TRUNCATE), among replicas that verify."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "truncated"
RANKS = 3
FORMS = 6  # of receives, each of one message that is too large and one that is not
EVERY = [(2, "all-to-all"), (2, "msg-plus-hash"), (2, "async"), (3, "async"), (3, "async-hash")]


def run(replicas: int, method: str, *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(RANKS, [PROGRAM], chosen)


def test_without_replicas_the_receiver_is_told() -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM])
    assert (ended.status, ended.out) == (0, ""), str(ended)


@pytest.mark.parametrize(("replicas", "method"), EVERY)
def test_what_is_cut_short_alike_is_no_difference(replicas: int, method: str) -> None:
    ended = run(replicas, method, "--strict")
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert ended.report["corruptions"] == []
    done = ended.report["verification"]
    assert done["verified"] == replicas * (RANKS - 1) * 2 * FORMS, str(ended)
    assert (done["unverified"], done["skipped"]) == (0, 0), str(ended)


@pytest.mark.parametrize(("replicas", "method"), EVERY)
@pytest.mark.parametrize("message", [1, 11, 21])
def test_what_replicas_have_of_it_is_compared(replicas: int, method: str, message: int) -> None:
    fault = f"flip:rank=0,replica=1,message={message},bit=40"
    ended = run(replicas, method, "--inject", fault, "--on-corruption", "report")
    found = [one for one in ended.report["corruptions"] if one["of"] != "output"]
    form, to = divmod(message - 1, 4)
    about = ("truncated", 1 + to // 2, form, 1)
    seen = {(one["of"], one["receiver"], one["tag"], one["number"]) for one in found}
    assert seen == {about}, str(ended)
    if replicas == 3:
        assert all(one["wrong_replicas"] == [1] for one in found), str(ended)
        assert {one["end"] for one in found} == {"outvoted"}, str(ended)


def test_what_nobody_has_of_it_is_not() -> None:
    ended = run(2, "msg-plus-hash", "--inject", "flip:rank=0,replica=1,message=1,bit=20000")
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"] == []
