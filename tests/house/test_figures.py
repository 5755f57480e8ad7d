"""README.md has the figures that docs/lab/benchmarks.md has."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import readme  # noqa: E402

PAGE = readme.PAGE.read_text()


def test_the_figures_of_the_readme_are_those_of_the_page() -> None:
    """If not: `.venv/bin/python bench/readme.py`."""
    text = readme.README.read_text()
    assert text == readme.rewritten(text, PAGE)


def test_what_becomes_of_another_figure_is_seen() -> None:
    ratio = readme.ratios(PAGE, "### bcast, calls back to back")[0][0]
    other = PAGE.replace(f"**{ratio}**", "**7.77**")
    assert "| 8 B | 7.77 |" in readme.figures(other)
