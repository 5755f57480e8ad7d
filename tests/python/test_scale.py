"""bench/scale.py: what is simulated and measured is what the graph says, and the page has it."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import scale


def test_what_a_process_has_to_do_grows_with_the_logarithm() -> None:
    rows = [scale.planned(procs, 16) for procs in (160, 320, 640, 1280)]
    for row in rows:
        steps = math.ceil(math.log2(row["procs"]))
        assert row["links"] == 2 * steps
        # Nobody says it twice; who would have two connections with one neighbor has one here.
        living = (row["procs"] - 1) / row["procs"]
        assert (row["links"] - 2.5) * living <= row["loss"] <= row["links"] * living
        assert row["allreduce_messages"] == 2 - 2 / row["procs"]
        assert row["allreduce_lost_messages"] < 2
        assert row["allreduce_lost"] > 0
    known = [row["known"] for row in rows]
    assert known == sorted(known)
    assert known[-1] < 2 * known[0]


def test_tables_grow_with_the_number_of_processes() -> None:
    few, many = (scale.planned(procs, 16)["kept"] for procs in (1600, 16_000))
    assert 8 * few < many < 12 * few


def test_a_host_that_falls_silent_is_accused_by_the_neighbors_of_its_processes() -> None:
    # Of ranks 4 to 7 of 8, each is linked with those 1, 2 and 4 away.
    assert scale.remote_neighbors(8, 4) == pytest.approx((3 + 2 + 2 + 3) / 4)


def test_real_processes_have_the_connections_and_heartbeats_that_are_planned() -> None:
    row = scale.measured("process", 12, 4)
    assert row["links"] == row["links_most"] == scale.connections(12)
    assert row["heartbeats"] == pytest.approx(scale.connections(12), rel=0.5)
    # At least the ring's, and at most one for each connection and half as many beats by chance.
    assert 1 <= row["loss_messages"] <= 1.5 * scale.connections(12)


def test_the_page_has_a_row_for_each_size_and_the_picture_all_curves() -> None:
    asked = scale.Asked((64, 128), 16, (), 4)
    rows, real = scale.collect(asked)
    page = scale.markdown(asked, rows, real)
    for procs in asked.sizes:
        assert page.count(f"| {procs} |") == 2
    picture = scale.picture(rows, real)
    assert b"a host falls silent" in picture
    assert b"a process dies" in picture
