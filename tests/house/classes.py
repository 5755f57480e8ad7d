"""Finds classes of C++ and counts what they have."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sources import cpp_code

_HEAD = re.compile(
    r"(?<!enum )\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{"
)
_LABEL = re.compile(r"^\s*(?:public|protected|private)\s*:")
_NEITHER = re.compile(
    r"^\s*(?:using|friend|typedef|static_assert|static\s+constexpr|enum|class|struct|union|template"
    r"\s*<[^;]*>\s*(?:friend|using|class|struct))\b"
)
# What src/runtime/mutex.hpp says of locks.
_LOCKS = re.compile(
    r"\bRESPROUT_(?:SCOPED_)?(?:CAPABILITY|(?:POINTEE_)?GUARDED_BY|REQUIRES|EXCLUDES|(?:TRY_)?ACQUIRE"
    r"|RELEASE|NOT_CHECKED)\b(?:\([^()]*(?:\(\)[^()]*)?\))?"
)
# After the brace of an initializer of a member.
_GOES_ON = re.compile(r"\s*[;,{]")
_ANGLES = re.compile(r"<[^<>;{}]*>")


class Class(NamedTuple):
    name: str
    functions: int
    fields: int


def cpp_classes(text: str) -> Iterator[Class]:
    """With all member functions and the fields of each object, not those of the classes inside."""
    code = _LOCKS.sub("", cpp_code(text))
    for head in _HEAD.finditer(code):
        members = list(_members(code, head.end()))
        functions = sum(_is_function(member) for member in members)
        yield Class(head[1], functions, len(members) - functions)


def _members(code: str, begin: int) -> Iterator[str]:
    """What is declared in the braces that are open at `begin`, without bodies."""
    depth, said = 0, ""
    for at in range(begin, len(code)):
        letter = code[at]
        if letter == "}":
            depth -= 1
            if depth < 0:
                return
            is_body = depth == 0 and _is_function(said)
            if is_body and not _GOES_ON.match(code, at + 1):
                yield from _declared(said)
                said = ""
        elif letter == "{":
            depth += 1
        elif depth == 0 and letter == ";":
            yield from _declared(said)
            said = ""
        elif depth == 0:
            said += letter


def _declared(said: str) -> Iterator[str]:
    while label := _LABEL.match(said):
        said = said[label.end() :]
    if said.strip() and not _NEITHER.match(said):
        yield said.strip()


def _plain(said: str) -> str:
    """Without arguments of templates, which may have parentheses, and without initializers."""
    before = None
    while before != said:
        before, said = said, _ANGLES.sub("", said)
    return re.split(r"(?<!operator)=(?!=)", said)[0]


def _is_function(member: str) -> bool:
    return "(" in _plain(member)
