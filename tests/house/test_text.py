"""What must not stand in a file of the house, and what must."""

import re
from pathlib import Path

import pytest
from sources import CPP, TEXT, cpp_code, files, name

# Put together, so that this file does not match itself.
UNFINISHED = re.compile(
    r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + ")\\b"
)
# Home folders and work folders; system folders such as /proc, /dev/shm and /usr are everywhere.
MACHINE_PATH = re.compile(
    r"(?<![\w.$}/~<-])/(root|home/(?!me\b|user\b)\w+|Users/\w+|work|workspace)\b"
)


# Not of constructors that are inherited.
USING = re.compile(r"^[ \t]*using (?!.*\b(\w+)::\1;)[\w:]+::(\w+);$", re.MULTILINE)


def unused_names(text: str) -> list[str]:
    """What a source says that it uses by its short name, and does not."""
    code = cpp_code(text)
    rest = USING.sub("", code)
    words = [using[2] for using in USING.finditer(code)]
    return [word for word in words if not re.search(rf"(?<!::)\b{word}\b", rest)]


def matches(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name(path)}:{number}: {line.strip()}"
        for path in files(TEXT)
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]


def has_head_comment(path: Path, text: str) -> bool:
    """Whether the file says first of all what it is."""
    lines = [line for line in text.splitlines() if not line.startswith("#!")]
    if not lines:
        return path.name == "__init__.py"
    begin = {".py": ('"""', "#"), ".cmake": ("#",)}.get(path.suffix, ("//", "/*"))
    return lines[0].startswith(begin) and len(re.findall(r"[A-Za-z]{2,}", lines[0])) > 1


def explained_by_its_header(path: Path) -> bool:
    """A source, or its unit test, beside a header that says what both are."""
    stem = path.stem.removesuffix("_test")
    return path.suffix == ".cpp" and path.with_name(f"{stem}.hpp").exists()


def test_nothing_is_marked_as_unfinished():
    assert not matches(UNFINISHED)


def test_no_path_of_one_machine_is_written_down():
    assert not matches(MACHINE_PATH)


def test_every_source_file_says_first_what_it_is():
    assert not [
        name(path)
        for path in files(CPP | {".py", ".cmake"})
        if not has_head_comment(path, path.read_text()) and not explained_by_its_header(path)
    ]


@pytest.mark.parametrize("text", ["", "#pragma once\n", "//\n#pragma once\n", "int x;  // what\n"])
def test_a_missing_head_comment_is_seen(text):
    assert not has_head_comment(Path("x.hpp"), text)


@pytest.mark.parametrize("text", ["see /root/x", "cd /home/ann/resprout", "'/work/main'"])
def test_a_machines_path_is_seen(text):
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize(
    "text", ["a/work/b", "$HOME/work", "/proc/self", "/rooted", "its root/leaf"]
)
def test_other_paths_are_left_alone(text):
    assert not MACHINE_PATH.search(text)


# clang-tidy looks for them only in the file that it is given, which includes those of a folder.
def test_what_a_source_declares_to_be_used_is_used():
    assert not {name(f): words for f in files({".cpp"}) if (words := unused_names(f.read_text()))}


@pytest.mark.parametrize("use", ["", "int b = 0;  // f", "g::f(1);", "fg();"])
def test_what_nobody_uses_is_seen(use):
    assert unused_names(f"using a::f;\n{use}\n") == ["f"]


@pytest.mark.parametrize("use", ["f();", "x<f> y;", "using g::h;\nh(f);"])
def test_what_somebody_uses_is_left_alone(use):
    assert not unused_names(f"using a::f;\n{use}\n")
