"""What was measured on a machine decides who really carries a job's collectives."""

import json
import os
from pathlib import Path

import jobs
import pytest

CARRIERS = jobs.PROGRAMS / "carriers"
SIZES = (
    8192,
    65536,
)  # of smaller ones, and of barriers, shared slots carry most whatever was measured
RANKS = 4


def calls_carried_by_the_library(collectives: str) -> dict[str, int]:
    """By name, of all ranks together."""
    variables = {"RESPROUT_COLLECTIVES": collectives}
    ended = jobs.resprout_run(RANKS, [CARRIERS, *map(str, SIZES)], variables=variables)
    assert ended.status == 0, str(ended)
    for name in ("bcast", "reduce", "allreduce"):
        assert ended.calls(name) == RANKS * len(SIZES), str(ended)
    return {name: int(call["native"]) for name, call in ended.report["operations"].items()}


def for_4_ranks(barrier: str = "", bcast: str = "", reduce: str = "", allreduce: str = "") -> str:
    """As if measured on a machine with as many cores as this one."""
    row = f"ranks={RANKS},barrier={barrier},bcast={bcast},reduce={reduce},allreduce={allreduce}"
    return f"auto:cores={os.cpu_count()};{row}"


@pytest.mark.parametrize(
    ("calibration", "native"),
    [
        (for_4_ranks(), {}),
        (for_4_ranks("0", "0", "0", "0"), {"bcast": 2, "reduce": 2, "allreduce": 2}),
        (for_4_ranks(bcast="0.16384", allreduce="16384"), {"bcast": 1, "allreduce": 1}),
        (for_4_ranks(barrier="0", reduce="8193.65536"), {}),
    ],
)
def test_a_calibration_says_who_carries_what(calibration: str, native: dict[str, int]) -> None:
    carried = calls_carried_by_the_library(calibration)
    assert {name: count for name, count in carried.items() if count} == {
        name: RANKS * count for name, count in native.items()
    }


def test_calibrating_keeps_a_file_that_the_next_job_goes_by(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    command = [jobs.RESPROUT, "calibrate", "-n", str(RANKS), "--seconds", "1", "--output", path]
    ended = jobs.run([*command, "--json"])
    assert ended.status == 0, str(ended)
    assert str(path) in ended.err
    (kept,) = json.loads(path.read_text())["calibrations"]
    assert kept == json.loads(ended.out)
    assert {case["ranks"] for case in kept["measured"]} == {RANKS}

    # Whoever was faster: turned around, everything is carried by the other one.
    for ratio, expected in ((2.0, RANKS * 2), (0.5, 0)):
        for case in kept["measured"]:
            case["ratio"] = ratio
        path.write_text(json.dumps({"schema": 1, "calibrations": [kept]}))
        ended = jobs.resprout_run(
            RANKS, [CARRIERS, *map(str, SIZES)], ["--calibration", str(path), "--verbose"]
        )
        assert "as measured on this machine" in ended.err
        assert ended.status == 0, str(ended)
        assert ended.report["operations"]["allreduce"]["native"] == expected, str(ended)


def test_a_table_that_is_none_ends_the_job_in_mpi_init_with_one_line() -> None:
    variables = {"RESPROUT_COLLECTIVES": "auto:cores=2;ranks=4,barrier=0,bcast=9.8"}
    ended = jobs.mpirun_run(2, [CARRIERS, "8"], variables)
    assert ended.status == 2, str(ended)
    ours = [line for line in ended.err.splitlines() if line.startswith("resprout: ")]
    assert len(ours) == 1, str(ended)
    assert "RESPROUT_COLLECTIVES: what follows auto: is no calibration" in ours[0]
