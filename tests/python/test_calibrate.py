"""From what was measured to who carries what, and the file that keeps it."""

import json
from itertools import product
from pathlib import Path

import pytest
from resprout.calibration import store
from resprout.calibration.figures import MARGIN, Measured, Point, as_text, points_of, switches_of
from resprout.calibration.store import Calibration, Machine
from resprout.cli import main
from resprout.doctor.calibration import check_calibration
from resprout.doctor.check import Verdict
from resprout.errors import UserError
from resprout.experiments.calibrate import measure as measure_module
from resprout.experiments.calibrate.measure import CASES, default_ranks
from resprout.experiments.calibrate.show import sentences
from resprout.launch.mpi import Library, Mpi

OPEN_MPI = Mpi(Path("/opt/bin/mpirun"), Library.OPEN_MPI, "5.0.11", has_ulfm=True)
HERE = store.this_machine(str(OPEN_MPI))
ELSEWHERE = Machine("another one", 64, "Open MPI 5.0.11")


def measured(
    ranks: int = 2, ratios: tuple[float, float] = (2.0, 0.5), barrier: float = 1.0
) -> tuple[Measured, ...]:
    """All operations at 8 and 512 bytes, both modes alike."""
    cases = [Measured(ranks, "barrier", "stream", 0, barrier, 1.0, barrier)]
    for operation, mode in product(("bcast", "reduce", "allreduce"), ("single", "stream")):
        for size, ratio in zip((8, 512), ratios, strict=True):
            cases.append(Measured(ranks, operation, mode, size, ratio, 1.0, ratio))
    return tuple(cases)


def calibration_of(machine: Machine, *rows: tuple[Measured, ...]) -> Calibration:
    return Calibration(machine, "1.0", "2026-01-02", sum(rows, ()))


def points(*ratios: float) -> list[Point]:
    """At 8, 64, 512 ... bytes."""
    return [Point(8 ** (i + 1), ratio, 1.0, ratio) for i, ratio in enumerate(ratios)]


def test_the_library_gets_what_it_carries_faster_by_more_than_the_margin() -> None:
    assert switches_of(points(1.0, 0.9, 1.04)) == []
    assert switches_of(points(1.06, 2.0, 3.0)) == [0]


def test_between_two_sizes_the_logarithms_are_interpolated() -> None:
    # As far above the margin at 8 as below at 512: half way, which is 64.
    assert switches_of(points(MARGIN * 4, MARGIN / 4)) == [0, pytest.approx(23, abs=1)]
    assert switches_of([Point(8, 1, 1, MARGIN / 4), Point(512, 1, 1, MARGIN * 4)]) == [64]
    # Twice as far: two thirds of the way.
    assert switches_of([Point(8, 1, 1, MARGIN / 4), Point(512, 1, 1, MARGIN * 2)]) == [128]


def test_each_change_of_sides_is_a_switch_and_they_ascend() -> None:
    found = switches_of(points(2.0, 0.5, 2.0, 0.5, 2.0))
    assert found[0] == 0
    assert len(found) == 5
    assert sorted(set(found)) == found


def test_both_modes_of_a_size_count_alike() -> None:
    cases = [
        Measured(2, "bcast", "single", 8, 1.0, 4.0, 0.25),
        Measured(2, "bcast", "stream", 8, 16.0, 1.0, 16.0),
    ]
    (point,) = points_of(cases, 2, "bcast")
    assert (point.resprout_us, point.native_us, point.ratio) == pytest.approx((4.0, 2.0, 2.0))


def test_the_text_for_the_ranks_has_a_row_for_each_number_of_them() -> None:
    cases = measured(2, (2.0, 2.0), 2.0) + measured(4, (0.5, 0.5), 0.5)
    assert as_text(cases, 2) == (
        "cores=2;ranks=2,barrier=0,bcast=0,reduce=0,allreduce=0;"
        "ranks=4,barrier=,bcast=,reduce=,allreduce="
    )


def test_a_sentence_says_what_the_library_carries() -> None:
    assert sentences(measured(2, (2.0, 2.0), 2.0)) == [
        "2 ranks: the library carries barrier, bcast of all sizes, reduce of all sizes, "
        "allreduce of all sizes"
    ]
    assert sentences(measured(4, (0.5, 0.5), 0.5)) == ["4 ranks: the library carries nothing"]
    assert "bcast below" in sentences(measured(2))[0]


def test_ranks_by_default_reach_from_room_for_each_to_crowds() -> None:
    assert default_ranks(1) == [2, 4]
    assert default_ranks(2) == [2, 4, 8]
    assert default_ranks(6) == [2, 4, 6, 12, 24]
    assert default_ranks(64) == [2, 4, 8, 16, 32, 64, 128]


def test_what_is_kept_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "calibration.json"
    assert store.read(path) == []
    mine = calibration_of(HERE, measured(2), measured(4))
    store.keep(path, mine)
    assert store.find(path, HERE) == mine
    assert store.find(path, ELSEWHERE) is None


def test_a_machine_has_its_newest_and_others_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    theirs, mine = calibration_of(ELSEWHERE, measured(2)), calibration_of(HERE, measured(4))
    store.keep(path, calibration_of(HERE, measured(2)))
    store.keep(path, theirs)
    store.keep(path, mine)
    assert store.read(path) == [theirs, mine]


def test_the_usual_file_is_where_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    usual = Path("/home/me/.config/resprout/calibration.json")
    assert store.default_path({}) == usual
    assert store.default_path({"XDG_CONFIG_HOME": "relative"}) == usual
    assert store.default_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/resprout/calibration.json")


def test_ranks_are_told_of_this_machine_alone(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    path = store.default_path(environment)
    assert store.text_for_ranks(None, str(OPEN_MPI), environment) is None
    store.keep(path, calibration_of(ELSEWHERE, measured(2)))
    assert store.text_for_ranks(None, str(OPEN_MPI), environment) is None
    mine = calibration_of(HERE, measured(2))
    store.keep(path, mine)
    assert store.text_for_ranks(None, str(OPEN_MPI), environment) == mine.as_text()
    assert store.text_for_ranks("none", str(OPEN_MPI), environment) is None
    other_mpi = Mpi(OPEN_MPI.launcher, Library.OPEN_MPI, "5.0.12", has_ulfm=True)
    assert store.text_for_ranks(None, str(other_mpi), environment) is None


def test_a_file_that_was_asked_for_has_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    with pytest.raises(UserError, match="is no file"):
        store.text_for_ranks(str(path), str(OPEN_MPI), {})
    store.keep(path, calibration_of(ELSEWHERE, measured(2)))
    with pytest.raises(UserError, match="has nothing for this machine"):
        store.text_for_ranks(str(path), str(OPEN_MPI), {})


def test_the_doctor_says_whether_there_is_one(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    path = store.default_path(environment)
    assert list(check_calibration(OPEN_MPI, environment)) == []
    store.keep(path, calibration_of(ELSEWHERE, measured(2)))
    (check,) = check_calibration(OPEN_MPI, environment)
    assert check.verdict is Verdict.DOUBTFUL
    store.keep(path, calibration_of(HERE, measured(2), measured(4)))
    (check,) = check_calibration(OPEN_MPI, environment)
    assert check.verdict is Verdict.GOOD
    assert "2026-01-02 with 2, 4 ranks" in check.text
    path.write_text("")
    (check,) = check_calibration(OPEN_MPI, environment)
    assert check.verdict is Verdict.BAD


def _broken() -> list[str]:
    good = calibration_of(HERE, measured(2)).as_dict()

    def changed(name: str, value: object) -> str:
        case = {**good["measured"][1], name: value}  # type: ignore[index]
        rest = [*good["measured"], case]  # type: ignore[misc]
        return json.dumps({"schema": 1, "calibrations": [{**good, "measured": rest}]})

    return [
        "", "{", "[]", "3", '{"schema": 2, "calibrations": []}', '{"schema": 1}',
        '{"schema": 1, "calibrations": [{}]}',
        json.dumps({"schema": 1, "calibrations": [{**good, "measured": []}]}),
        json.dumps({"schema": 1, "calibrations": [{**good, "measured": good["measured"][:3]}]}),  # type: ignore[index]
        changed("ranks", 1), changed("ranks", "2"), changed("ranks", 3), changed("bytes", 0),
        changed("bytes", 8.5), changed("operation", "scan"), changed("mode", "twice"),
        changed("ratio", 0), changed("ratio", "1"), changed("ratio", float("nan")),
        changed("native_us", None),
    ]  # fmt: skip


@pytest.mark.parametrize("contents", _broken())
def test_a_file_that_is_something_else_is_refused_in_one_line(
    tmp_path: Path, contents: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(contents)
    for command in (
        ["run", "-n", "2", "--calibration", str(path), "--", "true"],
        ["calibrate", "--output", str(path)],
    ):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"--calibration: {path} is no calibration" in line
        assert "resprout calibrate" in line
    assert path.read_text() == contents


@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [
        ("--ranks", "1", "2 to 1024"),
        ("--ranks", "4,many", "2 to 1024"),
        ("--seconds", "0.5", "1 to 86400"),
        ("--seconds", "nan", "1 to 86400"),
        ("--output", "/dev", "no file"),
        ("--output", "/dev/null/calibration.json", "cannot be written"),
        ("--mpi", "/nonexistent", "no mpirun"),
    ],
)
def test_what_cannot_be_measured_or_kept_is_refused_before_anything_is_started(
    capsys: pytest.CaptureFixture[str], option: str, value: str, valid: str
) -> None:
    assert main(["calibrate", option, value]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert option in line
    assert valid in line


def test_the_program_measures_as_many_cases_as_are_waited_for() -> None:
    source = Path(measure_module.__file__).with_name("calibrate.c").read_text()
    sizes = source.partition("sizes[] = {")[2].partition("}")[0].split(",")
    assert 1 + 3 * len(sizes) * 2 == CASES
