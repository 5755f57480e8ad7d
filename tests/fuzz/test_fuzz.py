"""Nothing that comes over a connection breaks what reads it: the corpus, and changes of it."""

import subprocess
from pathlib import Path

import fuzzers
import pytest

pytestmark = pytest.mark.skipif(
    not fuzzers.is_built(), reason="the compiler cannot report what code is reached"
)
# Of each target; more of it in `make soak`.
SECONDS = 8.0


@pytest.mark.parametrize("target", fuzzers.TARGETS)
def test_no_input_breaks_it(target: str) -> None:
    ended = fuzzers.run(target, fuzzers.CORPUS / target, seconds=SECONDS)
    assert ended.status == 0, str(ended)
    print(ended.said)


def test_an_input_that_breaks_a_target_is_found_and_kept() -> None:
    ended = fuzzers.run("needle", seconds=120)
    assert ended.status != 0, "the needle was not found"
    path = Path(ended.repeat.split()[1])
    needle = path.read_bytes()
    assert needle[:4] == bytes.fromhex("0df0ad1b") and needle[4:6] == b"R!"
    again = subprocess.run(ended.repeat.split(), capture_output=True, check=False)
    assert again.returncode == ended.status
    path.unlink()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--seconds", "soon"], "--seconds: soon is no number"),
        (["--seconds"], "--seconds: it takes a value"),
        (["--second", "1"], "--second: there is no such option"),
        (["nowhere"], "nowhere: it is not there"),
    ],
)
def test_what_a_fuzzer_is_not_told_right_it_refuses(words: list[str], complaint: str) -> None:
    command = [fuzzers.PROGRAMS / "needle", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"{complaint}; see --help\n")
