"""Campaigns: their file, how they are cut, what they leave, and what they refuse."""

import fcntl
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from resprout.cli import main
from resprout.experiments.campaign import dataset as dataset_module
from resprout.experiments.campaign.cost import run_ns, setup_ns
from resprout.experiments.campaign.parts import cut
from resprout.experiments.campaign.plan import Plan, Point
from resprout.files import replacing

SIMULATE = "resprout.experiments.campaign.workers.simulate"
FILE = """\
seed = 7
repetitions = 30
runs_per_part = 25

[[product]]
protocol = ["corrected-tree:tree=binomial", "corrected-tree:tree=lame,k=2"]
procs = [64, 200]
faults = [0, "5%", "3,5"]

[[product]]
protocol = "ftco-allreduce"
procs = 64
fail_at = ["none", "0@5,3@12"]
repetitions = 3

[[product]]
protocol = "ftco-allreduce:detection=in-band"
procs = 64
faults = "2+1@30"
late = ["none", "uniform:40"]
repetitions = 2
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "losses.toml"
    path.write_text(FILE)
    return path


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows, in the order of the files' names."""
    files = sorted(folder.glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line with which the command refuses."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


def test_a_campaign_has_all_combinations_in_the_order_of_its_file(file: Path) -> None:
    assert main(["campaign", str(file)]) == 0
    rows = rows_of(file.with_suffix(".results"))
    keys = ("protocol", "procs", "faults", "fail_at", "late", "repetition")
    trees = ("corrected-tree:tree=binomial", "corrected-tree:tree=lame,k=2")
    faults = ("0", "5%", "3,5")
    expected = [
        *itertools.product(trees, (64, 200), faults, ("none",), ("none",), range(30)),
        *itertools.product(
            ("ftco-allreduce",), (64,), ("none",), ("none", "0@5,3@12"), ("none",), range(3)
        ),
        *itertools.product(
            ("ftco-allreduce:detection=in-band",),
            (64,),
            ("2+1@30",),
            ("none",),
            ("none", "uniform:40"),
            range(2),
        ),
    ]
    assert [tuple(row[key] for key in keys) for row in rows] == expected


def test_every_row_is_the_run_that_sim_makes_of_its_parameters_and_seed(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", str(file)]) == 0
    rows = rows_of(file.with_suffix(".results"))
    for row in rows[5::40] + rows[-8:]:
        capsys.readouterr()
        command = ["sim", row["protocol"], "--procs", row["procs"], "--latency", row["latency"]]
        command += ["--overhead", row["overhead"], "--gap", row["gap"], "--root", row["root"]]
        command += ["--faults", row["faults"], "--late", row["late"]]
        command += ["--seed", row["seed"], "--format", "json"]
        deaths = [] if row["fail_at"] == "none" else row["fail_at"].split(",")
        command += [word for death in deaths for word in ("--fail-at", death)]
        assert main([str(word) for word in command]) == 0
        run = json.loads(capsys.readouterr().out)
        del run["trace_digest"]
        assert {key: row[key] for key in run} == run


def test_the_data_are_the_same_bytes_for_any_number_of_workers(file: Path, tmp_path: Path) -> None:
    for jobs in ("1", "2", "5"):
        assert main(["campaign", str(file), "--jobs", jobs, "-o", str(tmp_path / jobs)]) == 0
    alone = bytes_of(tmp_path / "1")
    assert len(alone) == 15
    assert bytes_of(tmp_path / "2") == alone
    assert bytes_of(tmp_path / "5") == alone


def test_a_seed_depends_on_the_campaign_s_seed_and_the_point_only(tmp_path: Path) -> None:
    point = Point("corrected-tree", 64)
    seeds = {Plan(seed, None, ()).first_seed(point) for seed in range(1000)}
    assert len(seeds) == 1000
    assert max(seeds) < 2**52
    others = [
        Point("corrected-tree", 65),
        Point("corrected-tree", 64, latency=3),
        Point("corrected-tree", 64, faults="1"),
        Point("corrected-tree", 64, fail_at="1@1"),
        Point("corrected-tree", 64, late="uniform:9"),
        Point("corrected-tree", 64, noise="0.5"),
        Point("corrected-tree", 64, initiators="none"),
    ]
    assert len({Plan(1, None, ()).first_seed(other) for other in [point, *others]}) == 8
    small = tmp_path / "small.toml"
    small.write_text('seed = 7\n[[product]]\nprocs = 64\nfaults = "5%"\nprotocol="corrected-tree"')
    large = tmp_path / "large.toml"
    large.write_text(small.read_text().replace('"5%"', '["1%", "5%"]'))
    assert main(["campaign", str(small)]) == 0
    assert main(["campaign", str(large)]) == 0
    assert rows_of(small.with_suffix(".results")) == rows_of(large.with_suffix(".results"))[1:]


@pytest.mark.parametrize("runs_per_part", [None, 1, 7, 30, 1000])
def test_the_parts_are_all_runs_each_once_and_in_order(runs_per_part: int | None) -> None:
    points = tuple((Point("corrected-tree", 1 << i), 5 + i) for i in range(25))
    plan = Plan(3, runs_per_part, points)
    parts = cut(plan)
    assert [part.number for part in parts] == list(range(len(parts)))
    pieces = [piece for part in parts for piece in part.pieces]
    runs = [(p.point, p.repetition + i, p.seed + i) for p in pieces for i in range(p.count)]
    assert runs == [
        (point, i, plan.first_seed(point) + i) for point, count in points for i in range(count)
    ]
    if runs_per_part is not None:
        assert {part.runs for part in parts[:-1]} <= {runs_per_part}


def test_parts_have_about_equal_work_and_never_too_many_are_made() -> None:
    point = Point("corrected-tree:start=overlapped", 1000)
    computed = Point("corrected-tree", 65536, faults="1%")
    huge = Point("corrected-tree:correction=none", 1 << 20)
    parts = cut(Plan(0, None, ((point, 100_000), (computed, 100_000), (huge, 100))))
    work = [part.work for part in parts[:-1]]
    assert max(work) <= min(work) + run_ns(huge) + setup_ns(computed)
    assert len(parts) > 20
    for repetitions in (1, 100, 10**4, 10**6, 10**9):
        assert 1 <= len(cut(Plan(0, None, ((point, repetitions), (huge, repetitions))))) <= 2049


def test_a_part_has_many_runs_where_the_simulation_is_dear_to_make() -> None:
    point = Point("corrected-tree", 1 << 26)
    assert run_ns(point) < setup_ns(point)
    for part in cut(Plan(0, None, ((point, 10**8),)))[:-1]:
        assert part.runs * run_ns(point) >= 8 * setup_ns(point)


def test_a_run_costs_by_its_faults_if_it_is_computed_and_by_its_processes_if_not() -> None:
    def cost(spec: str, procs: int, **parameters: Any) -> int:
        return run_ns(Point(spec, procs, **parameters))

    def ratio(spec: str, procs: int, faults: str, **parameters: Any) -> float:
        return cost(spec, procs, faults=faults, **parameters) / cost(spec, procs, **parameters)

    assert cost("corrected-tree", 1 << 20) == cost("corrected-tree", 1 << 10)
    assert ratio("corrected-tree", 65536, "1%") > 10
    assert cost("corrected-tree", 1000, faults="5") == cost("corrected-tree", 1000, faults="0.5%")
    assert cost("corrected-tree", 9, faults="1,2") == cost("corrected-tree", 9, faults="2")
    assert cost("corrected-tree", 9, faults="1,") == cost("corrected-tree", 9, faults="1")
    for spec, parameters in (
        ("corrected-tree:start=overlapped", {}),
        ("corrected-tree", {"fail_at": "3@5"}),
    ):
        assert cost(spec, 1 << 20, **parameters) > 500 * cost(spec, 1 << 10, **parameters)
        assert ratio(spec, 65536, "1%", **parameters) == 1
    # Each process is told of each death.
    assert ratio("ftco-allreduce", 65536, "1%") > 10
    assert ratio("reliable-broadcast", 65536, "1%") > 10
    assert ratio("ftco-allreduce", 9, "1+2@30") == ratio("ftco-allreduce", 9, "3")
    # Who waits for others asks after them.
    in_band = "ftco-allreduce:detection=in-band"
    assert cost(in_band, 64, late="uniform:9000") > 10 * cost(in_band, 64, late="normal:90")


def test_a_finished_campaign_is_not_run_again(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", str(file)]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(
        "resprout.experiments.campaign.workers.simulate", lambda *_: pytest.fail("ran")
    )
    assert main(["campaign", str(file)]) == 0
    assert capsys.readouterr().out == first


def test_only_missing_parts_are_made_and_leftovers_are_cleared(file: Path) -> None:
    folder = file.with_suffix(".results")
    assert main(["campaign", str(file)]) == 0
    whole = bytes_of(folder)
    kept = {path: path.stat().st_mtime_ns for path in sorted(folder.iterdir())[2:]}
    (folder / "part-00000.parquet").unlink()
    (folder / "part-00001.parquet").rename(folder / ".part-00001.parquet.tmp")
    assert main(["campaign", str(file)]) == 0
    assert bytes_of(folder) == whole
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("seed = 7", "sede = 7"), "unknown key 'sede'; did you mean seed?"),
        (("procs = 64", "prcs = 64"), "unknown key 'prcs'; did you mean procs?"),
        (("procs = 64", "zzz = 64"), "unknown key 'zzz'; valid are protocol, procs,"),
        (("procs = 64", ""), "a [[product]] has no procs"),
        (("[[product]]", "[[products]]"), "did you mean product?"),
        (("seed = 7", "seed = -1"), "seed: -1"),
        (("seed = 7", "seed = true"), "seed: True"),
        (("repetitions = 30", "repetitions = 0"), "repetitions: 0"),
        (("repetitions = 3\n", 'repetitions = "3"\n'), "repetitions: '3'"),
        (("runs_per_part = 25", "runs_per_part = 0"), "runs_per_part: 0"),
        (("tree=binomial", "tree=palm"), "palm"),
        (("procs = 64", "procs = 0"), "procs=0 is not from 1 to"),
        (("procs = 64", 'procs = "64"'), "procs: '64' is not valid; give whole numbers"),
        (("procs = 64", "procs = 64\nroot = 1"), "an allreduce has no root"),
        (("procs = 64", "procs = 64\nlatency = []"), "latency: the list is empty"),
        (("procs = 64", "procs = 99999999999999999999"), "out of range"),
        (('"3,5"', '"64"'), "a count below 64"),
        (('"3,5"', '"0,5"'), "a root that dies is given as fail-at 0@0"),
        (('"3,5"', "1.5"), "faults: 1.5"),
        (('"3,5"', '"3\\u0000"'), "faults: '3\\x00'"),
        (('"3,5"', '"5%"'), "there twice"),
        (("0@5", "0@soon"), "0@soon"),
        (("seed = 7", "seed = = 7"), "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_and_leaves_nothing(
    file: Path, change: tuple[str, str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change[0] in FILE
    file.write_text(FILE.replace(*change))
    line = refusal(capsys, "campaign", file)
    assert str(file) in line
    assert named in line
    assert list(file.parent.iterdir()) == [file]


def test_files_that_are_no_campaign_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No such file" in refusal(capsys, "campaign", tmp_path / "none.toml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "is not TOML" in refusal(capsys, "campaign", tmp_path / "binary")
    for text in ("", "product = []", "product = 3", "[product]\nprocs = 1", "product = [1]"):
        (tmp_path / "empty").write_text(text)
        assert "there is no [[product]]" in refusal(capsys, "campaign", tmp_path / "empty")
    assert "Is a directory" in refusal(capsys, "campaign", tmp_path)


def test_an_output_that_cannot_be_written_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--output" in refusal(capsys, "campaign", file, "-o", file)
    assert "--output" in refusal(capsys, "campaign", file, "-o", file / "below")
    assert "--output" in refusal(capsys, "campaign", file, "-o", "/proc/nothing")
    assert list(file.parent.iterdir()) == [file]


def test_a_disk_that_becomes_full_stops_a_campaign_and_leaves_whole_files(
    file: Path, tmp_path: Path
) -> None:
    """A file may have half the size of a part: as if the disk were full, for each of them."""
    assert main(["campaign", str(file), "-o", str(tmp_path / "whole")]) == 0
    size = (tmp_path / "whole" / "part-00000.parquet").stat().st_size // 2
    code = (
        "import resource, signal, sys; from resprout.cli import main;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
        f"sys.exit(main(['campaign', {str(file)!r}, '-o', {str(tmp_path / 'full')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "cannot be written: File too large; 0 of 15 parts" in done.stderr
    assert list((tmp_path / "full").iterdir()) == []


def test_results_of_another_campaign_are_left_alone(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", str(file)]) == 0
    capsys.readouterr()
    folder = file.with_suffix(".results")
    whole = bytes_of(folder)
    file.write_text(FILE.replace("seed = 7", "seed = 8"))
    assert "results of another campaign" in refusal(capsys, "campaign", file)
    assert bytes_of(folder) == whole


@pytest.mark.parametrize(
    ("constant", "value", "named"),
    [("SCHEMA", 99, "schema 99"), ("__version__", "9.9", "version 9.9")],
)
def test_results_of_another_version_are_left_alone(
    file: Path,
    constant: str,
    value: object,
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_module, constant, value)
        assert main(["campaign", str(file)]) == 0
    (file.with_suffix(".results") / "part-00003.parquet").unlink()
    capsys.readouterr()
    whole = bytes_of(file.with_suffix(".results"))
    assert named in refusal(capsys, "campaign", file)
    assert bytes_of(file.with_suffix(".results")) == whole


def test_a_damaged_file_among_the_results_is_named(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", str(file)]) == 0
    capsys.readouterr()
    damaged = file.with_suffix(".results") / "part-00003.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    assert f"{damaged} is not a whole Parquet file" in refusal(capsys, "campaign", file)


def test_two_campaigns_do_not_write_to_one_folder(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results").mkdir()
    with (tmp_path / "results" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        line = refusal(capsys, "campaign", file, "-o", tmp_path / "results")
        assert "another campaign is writing" in line
    assert main(["campaign", str(file), "-o", str(tmp_path / "results")]) == 0
    assert len(rows_of(tmp_path / "results")) == 370


def test_options_that_do_not_go_together_are_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("--jobs", "2", "--scheduler", "tcp://127.0.0.1:1")
    assert "--jobs" in refusal(capsys, "campaign", file, *both)
    assert "--jobs" in refusal(capsys, "campaign", file, "--jobs", "0")


def test_a_replaced_file_is_the_old_or_the_new_one_and_a_device_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("ne")
        raise RuntimeError
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match="no file"), replacing(Path("/dev/null")):
        pytest.fail("nothing may be written")


def test_the_command_line_starts_without_the_libraries_of_campaigns() -> None:
    code = (
        "import sys; from resprout.cli import main; main(['campaign', '--help']);"
        "heavy = {'pyarrow', 'duckdb', 'distributed', 'dask', 'rich.progress'} & set(sys.modules);"
        "sys.exit(f'{heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
