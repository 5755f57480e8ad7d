"""The judge of the kill matrix finds what is wrong: each of its rules, broken once."""

from pathlib import Path

import logs
import pytest

# Three ranks; rank 2 is lost, and never entered operation 1.
SOUND = {
    0: ["E 0 10", "R 0 40 sum_long world 0 0 7 aa", "E 1 50", "R 1 60 bcast world 1 0 0 bb",
        "E 2 61", "R 2 70 reduce dup 1 0 0 0",
        "E 3 80", "R 3 90 scan dup 0 0 1 0", "E 4 91", "R 4 95 scatter dup 2 1 0 0", "D"],
    1: ["E 0 30", "R 0 41 sum_long world 0 0 7 aa", "E 1 51", "R 1 61 bcast world 1 0 0 bb",
        "E 2 62", "R 2 71 reduce dup 1 0 3 cc",
        "E 3 81", "R 3 91 scan dup 0 0 3 0", "E 4 92", "R 4 96 scatter dup 2 1 0 0", "D"],
    2: ["E 0 20"],
}  # fmt: skip


def problems(folder: Path, *changes: tuple[int, str, str]) -> str:
    """What is found if, in a rank's log, so many lines are replaced."""
    for rank, lines in SOUND.items():
        text = "\n".join(lines) + "\n"
        for where, old, new in changes:
            if where == rank:
                assert old in text
                text = text.replace(old, new)
        (folder / f"rank-{rank}").write_text(text)
    return "\n".join(logs.problems(logs.read_logs(folder, 3), {0, 1}))


def test_sound_logs_have_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path) == ""


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("rank 1 did not come through", [(1, "D\n", "")]),
        ("different operations", [(1, "E 2 62\nR 2 71 reduce dup 1 0 3 cc\n", "")]),
        ("rank 0 has 0x2 and not 0x1", [(0, "scan dup 0 0 1", "scan dup 0 0 2")]),
        ("rank 0 has 0x1 and not 0x0", [(0, "scan dup", "exscan dup"),
                                        (1, "scan dup", "exscan dup")]),
        ("rank 2 was dead before", [(1, "scan dup 0 0 3", "scan dup 0 0 7")]),
        ("different results", [(1, "scatter dup 2 1", "scatter dup 2 0")]),
        ("different results", [(1, "0 7 aa", "0 7 ab")]),
        ("different results", [(1, "0 7 aa", "0 3 aa")]),
        ("rank 0 lives and is not contained", [(0, "0 7 aa", "0 6 aa"), (1, "0 7 aa", "0 6 aa")]),
        ("rank 2 was dead before", [(1, "0 3 cc", "0 7 cc")]),
        ("rank 0 lives and is not contained", [(1, "0 3 cc", "0 2 cc")]),
        ("different results", [(0, "bcast world 1 0 0 bb", "bcast world 1 1 0 0")]),
        ("although the root lives", [(0, "world 1 0 0 bb", "world 1 1 0 0"),
                                     (1, "world 1 0 0 bb", "world 1 1 0 0")]),
        ("not the root's data", [(0, "bcast world 1 0 0 bb", "bcast world 1 0 1 bb")]),
        ("left before everybody", [(0, "R 0 40", "R 0 29")]),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_found(
    said: str, changes: list[tuple[int, str, str]], tmp_path: Path
) -> None:
    assert said in problems(tmp_path, *changes)
