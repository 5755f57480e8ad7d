"""What the library holds of a call that a death has broken off harms nobody (broken_off.c)."""

from pathlib import Path

import jobs
import pytest

RANKS = 3
TCP = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
LARGE = 1 << 20
MIDDLE = 100_000  # acknowledged, and sent in parts


@pytest.mark.parametrize(
    ("form", "size"),
    [("send", LARGE), ("send", MIDDLE), ("isend", LARGE), ("recv", LARGE), ("irecv", LARGE)],
)
def test_what_the_dead_say_of_a_call_that_is_over_is_borne(
    form: str, size: int, tmp_path: Path
) -> None:
    program = [str(jobs.PROGRAMS / "broken_off"), str(tmp_path), form, str(size)]
    ended = jobs.resprout_run(RANKS, program, [], variables=TCP)
    assert ended.status == 0, str(ended)
    said = sorted(ended.out.splitlines())
    assert said == ["rank 0 is through", "rank 2 is through"], str(ended)


@pytest.mark.parametrize("on_loss", ["continue", "error"])
def test_a_message_that_has_begun_to_come_is_received_though_somebody_else_dies(
    on_loss: str, tmp_path: Path
) -> None:
    program = [str(jobs.PROGRAMS / "matched"), str(tmp_path)]
    ended = jobs.resprout_run(RANKS, program, ["--on-loss", on_loss], variables=TCP)
    assert ended.status == 0, str(ended)
    size = 8 << 20
    assert ended.out == f"received, from 1: {size} bytes, {size} right\n", str(ended)


@pytest.mark.parametrize("form", ["recv", "sendrecv", "sendrecv_replace"])
def test_what_comes_after_the_news_of_a_loss_is_for_the_next_receive(form: str) -> None:
    ended = jobs.resprout_run(RANKS, [jobs.PROGRAMS / "told", form], ["--on-loss", "error"])
    assert (ended.status, ended.out) == (0, "told, then received: 42\n"), str(ended)
