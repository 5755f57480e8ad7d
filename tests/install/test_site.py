"""The site of the docs is built without a warning, is whole, and loads nothing from elsewhere."""

import importlib.util
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from strangers import ROOT

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None, reason="no MkDocs: Python is older than its pins"
)
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "object": "data"}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.leads.append(values["href"])
        if values.get(LOADED.get(tag, "")) and values.get("rel") != "canonical":
            self.loads.append(values[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> dict[Path, Page]:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {page: Page(page.read_text()) for page in folder.rglob("*.html")}


def is_elsewhere(link: str) -> bool:
    return link.startswith(("http://", "https://", "//", "mailto:"))


def broken(site: dict[Path, Page]):
    for place, page in site.items():
        for link in [*page.leads, *page.loads]:
            path, _, anchor = link.partition("#")
            target = (place.parent / path).resolve() if path else place
            if is_elsewhere(link) or place.name == "404.html":
                continue
            if not target.exists() or (
                anchor and target in site and anchor not in site[target].ids
            ):
                yield f"{place.name}: {link}"


def test_every_page_of_the_docs_is_in_the_site(site):
    pages = {page.with_suffix("").as_posix() for page in site}
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        name = name.removesuffix("README") + ("index" if page.name == "README.md" else "")
        assert any(one.endswith(f"/{name}") for one in pages), name


def test_nothing_is_loaded_from_elsewhere(site):
    assert not {link for page in site.values() for link in page.loads if is_elsewhere(link)}


def test_links_lead_somewhere(site):
    assert not set(broken(site))
