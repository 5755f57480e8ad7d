"""What MkDocs does beside its own: see mkdocs.yml.

- The order of the pages is that of the links in the README.md of each folder.
- Links out of docs/ lead to copies: pages of the project, and sources as text.
- Diagrams in Mermaid become pictures, so that no page needs a script from elsewhere.
- A word of the glossary leads there where it first stands on a page.
"""

import functools
import hashlib
import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\()([^()\s]+)(\))")
CODE = re.compile(r"(```.*?```|(?<!`)`[^`\n]+`)", re.DOTALL)
MERMAID = re.compile(r"```mermaid\n(.*?)```", re.DOTALL)
GLOSSARY = "reference/glossary.md"
TERMS = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
# Words that mean to a reader what they mean everywhere.
NOT_LINKED = {
    "word", "rank", "process", "loss", "lost", "native", "view", "vote", "correction", "revoke",
    "shrink", "agree", "acknowledge", "checked", "delayed", "failed", "suspected", "carrier",
}  # fmt: skip
# Tags in whose text nothing is linked.
CLOSED = re.compile(r"(?s)<(a|code|pre|h\d|table|svg)\b.*?</\1>|<[^>]+>")
SECTIONS = ("tutorial", "how-to", "reference", "explanation", "lab")
# Where the copies are.
COPIES = "project"


def on_config(config):
    config["nav"] = ["README.md", *(entry(DOCS / section / "README.md") for section in SECTIONS)]
    config["nav"].append({"Project": sorted(copies_of_pages().values())})
    config["mdx_configs"]["toc"] = {"slugify": slug, "permalink": True}
    return config


def entry(index: Path) -> dict:
    """A section: its first page, and the pages to which that leads, in its order."""
    pages = [index]
    for _, link, _ in LINK.findall(CODE.sub("", index.read_text())):
        page = (index.parent / link.partition("#")[0]).resolve()
        if page.suffix == ".md" and page.is_relative_to(index.parent) and page not in pages:
            pages.append(page)
    inner = [
        entry(page) if page.name == "README.md" and page != index else uri(page) for page in pages
    ]
    title = re.search(r"^# (.*)", index.read_text(), re.MULTILINE)
    return {title[1] if title else index.parent.name: inner}


def uri(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def slug(text: str, separator: str) -> str:
    """As GitHub makes anchors."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def outward(page: Path) -> set[Path]:
    """Files outside of docs/ to which a page links."""
    links = (link for _, link, _ in LINK.findall(CODE.sub("", page.read_text())))
    found = ((page.parent / link.partition("#")[0]).resolve() for link in links if ":" not in link)
    return {
        path
        for path in found
        if path.is_file() and path.is_relative_to(ROOT) and not path.is_relative_to(DOCS)
    }


@functools.cache
def copies() -> dict[Path, str]:
    """Every file outside of docs/ to which pages lead, also over others, and where its copy is."""
    found: dict[Path, str] = {}
    ahead = list(DOCS.rglob("*.md"))
    while ahead:
        for path in outward(ahead.pop()) - set(found):
            name = path.relative_to(ROOT).as_posix()
            found[path] = f"{COPIES}/{name}" + ("" if path.suffix == ".md" else ".txt")
            if path.suffix == ".md":
                ahead.append(path)
    return found


def copies_of_pages() -> dict[Path, str]:
    return {path: copy for path, copy in copies().items() if path.suffix == ".md"}


def on_files(files, config):
    for path, copy in copies().items():
        text = path.read_text()
        if path.suffix == ".md":
            text = relinked(text, path, copy)
        files.append(File.generated(config, copy, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.generated_by:
        return markdown
    path = DOCS / page.file.src_uri
    if page.file.src_uri == GLOSSARY:
        markdown = TERMS.sub(lambda m: f"| {anchored(m[1])} |", markdown)
    return drawn(relinked(markdown, path, page.file.src_uri), page, config, files)


def relinked(markdown: str, path: Path, place: str) -> str:
    """The text of the page at `path`, which stands in the site at `place`."""
    known = copies()

    def one(match: re.Match) -> str:
        link, mark, anchor = match[2].partition("#")
        if not link or ":" in link:
            return match[0]
        target = (path.parent / link).resolve()
        if target.is_dir() and target.is_relative_to(DOCS):
            target = target / "README.md"
        if target.is_relative_to(DOCS):
            leads = uri(target)
        elif target in known:
            leads = known[target]
        elif target.is_dir() and not match[1].startswith("!"):
            return match[1].removeprefix("[").removesuffix("](")
        else:
            return match[0]
        leads = os.path.relpath(leads, PurePosixPath(place).parent)
        return f"{match[1]}{leads}{mark}{anchor}{match[3]}"

    parts = CODE.split(markdown)
    return "".join(
        part if CODE.fullmatch(part) else LINK.sub(one, part) for part in held_together(parts)
    )


def held_together(parts: list[str]) -> list[str]:
    """Code within the text of a link is no end of it."""
    found: list[str] = []
    for part in parts:
        if part.startswith("```"):
            found.append(part)
        elif found and not found[-1].startswith("```"):
            found[-1] += part
        else:
            found.append(part)
    return found


def drawn(markdown: str, page, config, files) -> str:
    def one(match: re.Match) -> str:
        name = f"pictures/diagram-{hashlib.sha256(match[1].encode()).hexdigest()[:12]}.svg"
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, content=picture(match[1], Path(name).name)))
        return f"![State diagram]({os.path.relpath(name, PurePosixPath(page.file.src_uri).parent)})"

    return MERMAID.sub(one, markdown)


def picture(diagram: str, name: str) -> str:
    """Drawing one takes 2 s, so it is kept."""
    kept = ROOT / "build" / "diagrams" / name
    if not kept.exists():
        import mermaidx

        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}")
        unfinished.write_text(mermaidx.render(diagram).svg())
        unfinished.replace(kept)
    return kept.read_text()


def terms(cell: str) -> list[str]:
    """Those of one row that are linked."""
    words = (re.sub(r"\(.*?\)|^to ", "", word).strip() for word in cell.split(","))
    return [word for word in words if len(word) > 3 and word not in NOT_LINKED]


def anchored(cell: str) -> str:
    return "".join(f'<a id="{slug(word, "-")}"></a>' for word in terms(cell)) + cell


@functools.cache
def linked_words() -> re.Pattern:
    rows = TERMS.findall((DOCS / GLOSSARY).read_text())
    words = sorted((word for row in rows for word in terms(row)), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, words))})(s?)\b")


def on_page_content(html, page, config, files):
    if page.file.src_uri == GLOSSARY:
        return html
    glossary = files.get_file_from_path(GLOSSARY).url_relative_to(page.file)
    seen: set[str] = set()

    def one(match: re.Match) -> str:
        if match[1] in seen:
            return match[0]
        seen.add(match[1])
        return f'<a href="{glossary}#{slug(match[1], "-")}">{match[0]}</a>'

    found, at = [], 0
    for closed in CLOSED.finditer(html):
        found += [linked_words().sub(one, html[at : closed.start()]), closed[0]]
        at = closed.end()
    return "".join([*found, linked_words().sub(one, html[at:])])
