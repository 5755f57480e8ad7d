"""The pages of the reference that are made of the sources are as these are."""

import sys

import pytest
from sources import ROOT

sys.path.insert(0, str(ROOT / "packaging" / "site"))
import pages


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_page_is_what_the_sources_say(name: str) -> None:
    is_current = (pages.REFERENCE / name).read_text() == pages.PAGES[name]()
    assert is_current, "run packaging/site/pages.py"
