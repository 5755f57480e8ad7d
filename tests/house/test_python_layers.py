"""No Python modules go in circles, and what users' jobs need stands on no experiment."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest
from includes import largest_cycle
from sources import ROOT

PACKAGE = ROOT / "python"
# The doors: the command line, and what notebooks import.
USE_EXPERIMENTS = {"resprout.cli", "resprout.notebook", "resprout.experiments"}


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str) -> set[str]:
    """All names that are imported, wherever in the text, for type checkers too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def modules() -> dict[str, set[str]]:
    """Each module of the package, and which others it imports."""
    all_of = {module_of(path): path for path in sorted((PACKAGE / "resprout").rglob("*.py"))}
    return {name: (imports(path.read_text()) & {*all_of}) - {name} for name, path in all_of.items()}


def folder_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def folders(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Which of the package's folders, and modules beside them, import which."""
    found: dict[str, set[str]] = {}
    for module, imported in graph.items():
        own = folder_of(module)
        found.setdefault(own, set()).update(folder_of(other) for other in imported)
    return {own: others - {own} for own, others in found.items()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert largest_cycle(modules()) == set()


def test_no_folders_import_each_other_in_a_circle() -> None:
    assert largest_cycle(folders(modules())) == set()


def test_only_the_doors_know_the_experiments() -> None:
    wrong = {
        module: sorted(used)
        for module, imported in modules().items()
        if folder_of(module) not in USE_EXPERIMENTS
        and (used := {name for name in imported if folder_of(name) == "resprout.experiments"})
    }
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "import resprout.files",
        "from resprout import files",
        "from resprout.files import replacing",
        "def f():\n    from resprout.files import replacing",
    ],
)
def test_an_import_is_seen_wherever_it_stands(text: str) -> None:
    assert "resprout.files" in imports(text)
