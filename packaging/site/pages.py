"""Writes the pages of the reference that are made of the sources.

    python packaging/site/pages.py

docs/reference/command-line.md comes from the tree of commands, python.md from docstrings, c.md from
the headers. tests/house/test_pages.py says when they are old.
"""

import ast
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
# Modules for programs, in the order of the page.
MODULES = ["resprout.mpi", "resprout.notebook", "resprout"]
HEADERS = ["resprout.h", "member.h"]
NAMED = re.compile(r"\bdocs/([\w./-]+\.md)")


def filled(text: str) -> str:
    """Paragraphs of at most 120 columns; blocks that are indented stay."""
    return "\n\n".join(
        textwrap.indent(textwrap.dedent(block), "    ")
        if block.startswith("    ")
        else textwrap.fill(linked(block), 120, break_long_words=False, break_on_hyphens=False)
        for block in re.split(r"\n{2,}", text.strip("\n"))
    )


def linked(text: str) -> str:
    """Names of pages become links from docs/reference/."""
    return NAMED.sub(lambda m: f"[{m[1]}](../{m[1]})", text).replace("(../reference/", "(")


def cell(text: str) -> str:
    return linked(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


# --- the command line ----------------------------------------------------------------------------


def command_line() -> str:
    sys.path.insert(0, str(ROOT / "python"))
    import typer
    from resprout.cli import app

    lines = ["# Command line", ""]
    lines += [
        "For those who look up an option: every command of `resprout`, as `--help` says it.",
        "",
    ]
    lines += [
        f"- [`{words}`](#{words.replace(' ', '-')})"
        for words, _ in commands(typer.main.get_command(app), "resprout")
    ]
    for words, command in commands(typer.main.get_command(app), "resprout"):
        lines += ["", f"## `{words}`", "", filled(command.help or "")]
        rows = [row(p) for p in command.params if not getattr(p, "hidden", False)]
        if rows:
            lines += [
                "",
                "| option | value | without it | what it does |",
                "|---|---|---|---|",
                *rows,
            ]
    return "\n".join(lines) + "\n"


def commands(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from commands(inner, f"{words} {name}")


def row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    value = str(parameter.metavar or parameter.name.strip("_").upper())
    names = ", ".join(f"`{name}`" for name in parameter.opts) if is_option else f"`{value}`"
    value = f"`{value}`" if is_option and not parameter.is_flag else ""
    without = parameter.default if getattr(parameter, "show_default", False) else None
    if parameter.required:
        without = "must be given"
    elif without in (None, False, "", (), []) or callable(without):
        without = ""
    return f"| {names} | {cell(value)} | {cell(str(without))} | {cell(parameter.help or '')} |"


# --- Python --------------------------------------------------------------------------------------


def python() -> str:
    lines = ["# Python", ""]
    about = (
        "For those who write programs and notebooks in Python: what they can import. Without "
        "Resprout's package there is none of it."
    )
    lines += [filled(about)]
    for module in MODULES:
        lines += described(module)
    return "\n".join(lines) + "\n"


def described(module: str) -> Iterator[str]:
    path = ROOT / "python" / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(path.read_text())
    yield from ["", f"## `{module}`", "", code_marked(ast.get_docstring(tree) or "")]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield from ["", f"### `{node.name}`", "", "```python", signature(node), "```", ""]
            yield code_marked(ast.get_docstring(node) or "")


def signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        fields = [ast.unparse(n) for n in node.body if isinstance(n, ast.AnnAssign)]
        return "\n".join([f"class {node.name}:", *(f"    {field}" for field in fields)])
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"def {node.name}({ast.unparse(node.args)}){returns}"
    if len(whole) <= 100:
        return whole
    arguments = ast.unparse(node.args).split(", ")
    return f"def {node.name}(\n    " + ",\n    ".join(arguments) + f",\n){returns}"


def code_marked(text: str) -> str:
    """A docstring whose lines of code are not indented becomes Markdown."""
    blocks = []
    for block in re.split(r"\n{2,}", text):
        is_code = re.match(r"(from|import) \S+|[\w.]+\(", block) is not None
        blocks.append(f"```python\n{block}\n```" if is_code else filled(block))
    return "\n\n".join(blocks)


# --- C -------------------------------------------------------------------------------------------


def c() -> str:
    lines = ["# C", "", "For those whose programs call Resprout: what the headers declare."]
    lines += [
        "[Installing](../how-to/install.md#for-programs-that-ask-resprout-something) says how"
    ]
    lines[-1] += " compilers find them."
    lines = [*lines[:2], filled(" ".join(lines[2:]))]
    for header in HEADERS:
        text = (ROOT / "include" / "resprout" / header).read_text()
        lines += ["", f"## `<resprout/{header}>`", *declarations(text)]
    return "\n".join(lines) + "\n"


def declarations(text: str) -> Iterator[str]:
    """Comments that begin a line become text, what follows each one code."""
    text = re.sub(r"^(#\s*(ifndef RESPROUT|define RESPROUT_|include|ifdef __cpl|endif|if|  if).*|"
                  r'extern "C" \{|\})\n', "", text, flags=re.MULTILINE)  # fmt: skip
    for comment, declared in re.findall(r"^/\* ?(.*?)\*/\n(.*?)(?=^/\*|\Z)", text, re.M | re.S):
        code = re.sub(r"\s*__attribute__\(\(weak\)\)", "", declared)
        code = re.sub(r"\n{2,}", "\n", code.strip("\n"))
        if code:
            yield from ["", "```c", code, "```"]
        yield from ["", filled(re.sub(r"^ \* ?", "", comment, flags=re.MULTILINE).strip())]


PAGES: dict[str, Callable[[], str]] = {
    "command-line.md": command_line,
    "python.md": python,
    "c.md": c,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())
