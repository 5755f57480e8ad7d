"""Makes a notebook of each program of docs/how-to/notebook.md, with what it shows.

    python packaging/site/notebooks.py

The programs are run, so a notebook can be read without Resprout. tests/python/test_notebooks.py
says when they are old.
"""

import base64
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "how-to" / "notebook.md"
NOTEBOOKS = ROOT / "docs" / "how-to" / "notebooks"
SECTION = re.compile(
    r"^## (?P<title>[^\n]*)\n(?P<text>(?:(?!##|```)[^\n]*\n)*?)"
    r'```python title="(?P<name>\w+)\.py"\n(?P<code>.*?)^```',
    re.MULTILINE | re.DOTALL,
)
# What a notebook does by itself.
SAVES = re.compile(r"^figure\.savefig\(.*\)\n", re.MULTILINE)

Cell = dict[str, Any]


def programs() -> Iterator[tuple[str, str, str]]:
    """Of each: its name, what is said before it, and itself."""
    for found in SECTION.finditer(PAGE.read_text()):
        yield found["name"], f"# {found['title']}\n\n{found['text'].strip()}", found["code"]


def shown_by(code: str) -> list[Cell]:
    """Runs a program in an empty folder. What a notebook shows of it."""
    said, names = io.StringIO(), dict[str, Any]()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        os.chdir(folder)
        try:
            exec(compile(code, "cell", "exec"), names)
        finally:
            os.chdir(before)
    shown: list[Cell] = []
    if said.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": lines(said.getvalue())})
    if "figure" in names:
        picture = io.BytesIO()
        names["figure"].savefig(picture, format="png", dpi=50, metadata={"Software": None})
        coded = base64.b64encode(picture.getvalue()).decode()
        data = {"image/png": coded, "text/plain": ["<Figure>"]}
        shown.append({"output_type": "display_data", "data": data, "metadata": {}})
    return shown


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(text: str, code: str) -> dict[str, Any]:
    kept = SAVES.sub("figure\n", code).rstrip("\n")
    return {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": lines(text)},
            {
                "cell_type": "code",
                "execution_count": 1,
                "metadata": {},
                "outputs": shown_by(code),
                "source": lines(kept),
            },
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def main() -> None:
    NOTEBOOKS.mkdir(exist_ok=True)
    for name, text, code in programs():
        kept = json.dumps(notebook(text, code), indent=1, ensure_ascii=False)
        (NOTEBOOKS / f"{name}.ipynb").write_text(kept + "\n")


if __name__ == "__main__":
    main()
