"""The notebooks of the docs: each is a program of their page, and shows what that shows."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "site"))
import notebooks

PROGRAMS = list(notebooks.programs())


def said(cells: list[dict[str, Any]]) -> list[str]:
    return ["".join(cell["text"]) for cell in cells if cell["output_type"] == "stream"]


def pictures(cells: list[dict[str, Any]]) -> int:
    return sum("image/png" in cell.get("data", ()) for cell in cells)


def test_the_page_has_three_programs_and_each_a_notebook() -> None:
    kept = {path.stem for path in notebooks.NOTEBOOKS.glob("*.ipynb")}
    assert {name for name, _, _ in PROGRAMS} == kept
    assert len(kept) == 3


@pytest.mark.parametrize(("name", "text", "code"), PROGRAMS, ids=[name for name, *_ in PROGRAMS])
def test_a_notebook_shows_what_its_program_shows(name: str, text: str, code: str) -> None:
    kept = json.loads((notebooks.NOTEBOOKS / f"{name}.ipynb").read_text())
    made = notebooks.notebook(text, code)
    for one, other in zip(kept["cells"], made["cells"], strict=True):
        assert one["source"] == other["source"], "run packaging/site/notebooks.py"
    outputs, again = kept["cells"][1]["outputs"], made["cells"][1]["outputs"]
    assert outputs
    assert said(outputs) == said(again)
    # Other versions of matplotlib draw it otherwise.
    assert pictures(outputs) == pictures(again)
