"""The sources of the house, for the tests that look at them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "release"
# Folders, and files: .git, in a work tree beside another one; what is built without a suffix.
NOT_OURS = {".git", ".venv", "build", "dist", "third_party", "__pycache__"}
NOT_OURS |= {"resprout_start", "demo_programs"}
CPP = {".c", ".h", ".cpp", ".hpp"}
# Files of plain text that are read by people, too.
TEXT = CPP | {".py", ".md", ".toml", ".cmake", ".txt", ".json", ".map", ".html", ".css", ".js", ""}


def files(suffixes: set[str], below: str = ".") -> Iterator[Path]:
    """Our own files with one of the suffixes, in the order of their names."""
    for folder, subfolders, names in os.walk(ROOT / below):
        subfolders[:] = sorted(
            s for s in subfolders if s not in NOT_OURS and not s.endswith(("_cache", ".egg-info"))
        )
        for name in sorted(names):
            if name not in NOT_OURS and Path(name).suffix in suffixes:
                yield Path(folder) / name


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


_LITERAL_OR_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def cpp_code(text: str) -> str:
    """C++ text with comments and literals blanked out; lines stay where they are."""
    # A digit separator (1'000) is no literal.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return _LITERAL_OR_COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
