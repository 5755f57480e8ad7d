"""docs/lab/replication.md has the paper's tables beside its own figures."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import beside_the_paper  # noqa: E402

PAGE = beside_the_paper.PAGE.read_text()


def test_the_section_is_that_of_the_tables_and_of_the_page() -> None:
    """If not: `.venv/bin/python bench/beside_the_paper.py`."""
    assert beside_the_paper.rewritten(PAGE) == PAGE


def test_what_becomes_of_another_figure_is_seen() -> None:
    found = beside_the_paper.ours(PAGE)
    assert set(found) == {
        (kernel, degree, method)
        for kernel in ("cg", "ep", "ft", "is", "lu", "mg")
        for degree in (2, 3)
        for method in beside_the_paper.METHODS
    }
    figure = f"| {found['cg', 2, 'async']:.2f} |"
    other = PAGE.replace(figure, "| 7.77 |", 1)
    assert beside_the_paper.ours(other)["cg", 2, "async"] == 7.77
    assert "**7.77**" in beside_the_paper.section(other)


def test_all_numbers_of_both_tables_are_there() -> None:
    rows = [line for line in beside_the_paper.table(2, {}) if "environment" in line]
    assert len(rows) == 18 + 14
    # BT of class B with 64 processes, AllToAll: 213.82 s of 73.87.
    assert (
        "| bt | environment 1, class B, 64 processes | 73.87 | 2.89 | 1.12 | 1.28 | 0.98 |" in rows
    )
