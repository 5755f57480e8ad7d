"""Links between documents lead somewhere, and every page can be reached from the first one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import ROOT, files, name

LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(([^()\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
ELSEWHERE = ("http://", "https://", "mailto:")
# Pages that stand for themselves.
NOT_LINKED = {"README.md", "CHANGELOG.md", ".github/pull_request_template.md"}


def links(text: str) -> list[str]:
    return [link for link in LINK.findall(CODE.sub("", text)) if not link.startswith(ELSEWHERE)]


def anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*$", CODE_BLOCK.sub("", text), re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchor, number = words, 0
        while anchor in found:
            number += 1
            anchor = f"{words}-{number}"
        found.add(anchor)
    return found


CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)


def broken(page: Path) -> Iterator[str]:
    for link in links(page.read_text()):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        is_there = target.exists()
        if is_there and anchor and target.suffix == ".md":
            is_there = anchor in anchors(target.read_text())
        if not is_there:
            yield f"{name(page)}: {link}"


def test_links_between_documents_lead_somewhere() -> None:
    assert not [one for page in files({".md"}) for one in broken(page)]


def test_every_page_can_be_reached_from_the_first_one() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen:
            continue
        seen.add(page)
        for link in links(page.read_text()):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.is_dir():
                target = target / "README.md"
            if target.suffix == ".md" and target.exists():
                ahead.append(target)
    pages = {name(page) for page in files({".md"})}
    assert not pages - {name(page) for page in seen} - NOT_LINKED


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("## What must hold", "what-must-hold"),
        ("### `resprout run`: options, and -n", "resprout-run-options-and--n"),
    ],
)
def test_anchors_are_those_of_headings(heading: str, anchor: str) -> None:
    assert anchors(f"{heading}\n") == {anchor}
    assert anchors(f"{heading}\n\n{heading}\n") == {anchor, f"{anchor}-1"}


def test_links_in_code_are_none() -> None:
    assert links("see [a](b.md#c), `[d](e)`\n```\n[f](g)\n```\n[h](https://i)") == ["b.md#c"]
