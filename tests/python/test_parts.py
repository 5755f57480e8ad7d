"""Jobs of several programs."""

from pathlib import Path

import pytest
from conftest import make_program
from resprout.cli import main
from resprout.errors import UserError
from resprout.launch.parts import Part, split


def test_one_program_is_one_part() -> None:
    assert split(3, ["./a", "-n", "2"]) == [Part(3, ["./a", "-n", "2"])]
    assert split(3, []) == [Part(3, [])]


@pytest.mark.parametrize(
    "form",
    ["-n 2", "-n2", "-n=2", "-np 2", "--np 2", "--np=2", "--ranks 2", "--ranks=2", "-n 2 --"],
)
def test_further_programs_have_a_number_of_ranks(form: str) -> None:
    words = ["./a", "x", ":", *form.split(), "./b", "-n", "7", ":", "-n", "1", "./c"]
    assert split(4, words) == [
        Part(4, ["./a", "x"]),
        Part(2, ["./b", "-n", "7"]),
        Part(1, ["./c"]),
    ]


@pytest.mark.parametrize("form", ["-n 2", "-n2", "-np 2", "--np 2", "--np=2", "--ranks 2"])
def test_so_has_the_first_one(fake_mpi: Path, tmp_path: Path, form: str) -> None:
    text = f"#!/bin/sh\ntouch {tmp_path}/rank-$OMPI_COMM_WORLD_RANK\n"
    program = make_program(tmp_path / "program", text)
    assert main(["run", *form.split(), "--mpi", str(fake_mpi), "--", str(program)]) == 0
    assert sorted(path.name for path in tmp_path.glob("rank-*")) == ["rank-0", "rank-1"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (": -n 2 ./b", "no program given before `:`"),
        ("./a :", "nothing stands there"),
        ("./a : :", "nothing stands there"),
        ("./a : ./b", "'./b' does not begin so"),
        ("./a : -n x ./b", "-n is given 'x', which is no number of ranks"),
        ("./a : -n 0 ./b", "is given '0'"),
        ("./a : -n-1 ./b", "is given '-1'"),
        ("./a : --ranks= ./b", "is given ''"),
        ("./a : -n", "is given ''"),
        ("./a : -n 2", "no program in '-n 2'"),
        ("./a : -n 2 --", "no program in '-n 2 --'"),
        ("./a : -n 2 --strict ./b", "--strict is an option"),
        ("./a : -n 2 ./b :", "nothing stands there"),
    ],
)
def test_a_wrong_form_is_refused_by_one_line(words: str, problem: str) -> None:
    with pytest.raises(UserError) as refused:
        split(1, words.split())
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)
