"""What is received on communicators of which other planes do not know, of a rank that is lost."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "between"
FORMS = ["recv", "irecv", "test", "waitall", "recv_init", "probe", "any", "sendrecv"]
REASONS = ["of which other planes do not know", "for which others cannot stand in"]


def run(form: str, late_ms: int, *options: str) -> jobs.Ended:
    chosen = ["--replicas", "2", "--on-replica-loss", "stand-in", *options]
    return jobs.resprout_run(4, [PROGRAM, form, late_ms], chosen)


def test_it_is_received_while_nobody_is_lost() -> None:
    for form in FORMS:
        ended = run(form, 0)
        assert (ended.status, ended.out) == (0, "got 2\n"), str(ended)


# Nobody can say what it should have got: it must not go on as if it had.
@pytest.mark.parametrize(
    ("form", "late_ms", "verify"),
    covering.with_every_value(FORMS, [0, 300], [(), ("--verify", "async")]),
)
def test_who_waits_for_the_lost_ends_and_is_stood_in_for(
    form: str, late_ms: int, verify: tuple[str, ...]
) -> None:
    ended = run(form, late_ms, *verify, "--inject", "kill:rank=2,replica=1,at=send#1")
    assert (ended.status, ended.out) == (0, "got 2\n"), str(ended)
    assert "rank 0 of plane 1 ends: " in ended.err, str(ended)
    assert any(reason in ended.err for reason in REASONS), str(ended)
