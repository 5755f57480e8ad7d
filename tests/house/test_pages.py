"""Pages of the docs: those made of the sources are as these are, and each says for whom it is."""

import re
import sys
from pathlib import Path

import pytest
from sources import ROOT

sys.path.insert(0, str(ROOT / "packaging" / "site"))
import pages


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_what_the_sources_say(name: str) -> None:
    is_current = (pages.REFERENCE / name).read_text() == pages.PAGES[name]()
    assert is_current, "run packaging/site/pages.py"


DOCS = ROOT / "docs"
# Decisions say in their first words what was asked, and what is simulated again is written whole.
OTHERWISE = {"adr", "reproduction"}
FOR_WHOM = re.compile(r"\b[Ff]or\s+(those|newcomers|readers|users|developers|people|programs)\b")
# What is said before a list, a table or a command.
BEGINNING = re.compile(r"(?:^(?![#|`*-]|!\[|\d+\.).+\n)+", re.MULTILINE)


def said_first(page: Path) -> str:
    """What stands behind the title, before anything that is no text."""
    title, _, rest = page.read_text().partition("\n")
    assert title.startswith("# "), page
    found = BEGINNING.match(rest.lstrip("\n"))
    return "" if found is None else found[0]


@pytest.mark.parametrize(
    "page",
    [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name not in OTHERWISE],
    ids=lambda page: page.relative_to(DOCS).as_posix(),
)
def test_a_page_begins_with_what_it_is_for_and_for_whom(page: Path) -> None:
    assert FOR_WHOM.search(said_first(page)), "its first paragraph does not say for whom it is"
