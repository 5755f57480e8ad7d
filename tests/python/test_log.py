"""Which lines are said at which level."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import make_program
from resprout import log
from resprout.cli import main


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    yield
    log.set_level(log.Level.warning)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (log.Level.error, "e"),
        (log.Level.warning, "ew"),
        (log.Level.info, "ewi"),
        (log.Level.debug, "ewid"),
    ],
)
def test_a_level_says_what_is_at_least_as_important(
    capsys: pytest.CaptureFixture[str], level: log.Level, expected: str
) -> None:
    log.set_level(level)
    for word, tell in zip("ewid", (log.error, log.warn, log.info, log.debug), strict=True):
        tell(word)
    assert capsys.readouterr().err == "".join(f"resprout: {word}\n" for word in expected)


def run(fake_mpi: Path, tmp_path: Path, *options: str) -> int:
    program = make_program(tmp_path / "program", "#!/bin/sh\nexit 0\n")
    return main(["run", "-n", "2", "--mpi", str(fake_mpi), *options, "--", str(program)])


@pytest.mark.parametrize(
    ("options", "has_settings", "has_report", "has_command"),
    [
        ((), False, False, False),
        (("--verbose",), True, True, False),
        (("--log-level", "info"), True, True, False),
        (("--log-level", "debug"), True, True, True),
        (("--report", "/dev/null"), False, True, False),
        (("--report", "/dev/null", "--log-level", "error"), False, False, False),
    ],
)
def test_a_job_says_what_its_level_has(
    fake_mpi: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    options: tuple[str, ...], has_settings: bool, has_report: bool, has_command: bool,
) -> None:  # fmt: skip
    run(fake_mpi, tmp_path, *options)
    said = capfd.readouterr().err
    assert ("--with-ft=ulfm" in said or "--with-ft ulfm  (" in said) == has_settings, said
    assert ("no rank of 2 was lost" in said) == has_report, said
    assert (f"{fake_mpi}/bin/mpirun " in said) == has_command, said


def test_a_level_that_does_not_exist_is_refused(
    fake_mpi: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(fake_mpi, tmp_path, "--log-level", "loud") == 2
    assert "error, warning, info, debug" in capfd.readouterr().err


def test_faults_of_a_program_without_mpi_are_said_not_to_have_come_about(
    fake_mpi: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(fake_mpi, tmp_path, "--inject", "kill:rank=1,at=1s") == 0
    said = capfd.readouterr().err
    assert "did not come about, as no rank has called MPI_Init: kill:rank=1,at=1s\n" in said
