"""Finds functions and how long they are, in C++ and in Python."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sources import cpp_code

# What precedes the brace of a block that is no function: a type, a namespace, a linkage block, an
# initializer. All others have a parameter list, or are blocks inside of a function.
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b[^()]*$|\bextern\s*$|[=,]\s*$")

# After the brace of a member's initializer: the next one, or the body.
_MORE_OF_THE_HEAD = re.compile(r"\s*[,{]")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.MULTILINE)


class Function(NamedTuple):
    name: str
    line: int
    lines: int


def python_functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)


def cpp_functions(path: Path) -> Iterator[Function]:
    """The outermost blocks with a parameter list; a lambda counts to the function around it.

    A doctest TEST_CASE is a function as well.
    """
    code = _DIRECTIVE.sub(lambda m: "\n" * m.group().count("\n"), cpp_code(path.read_text()))
    inside = None  # the depth at which the function around us opened its brace
    begin = None  # where its head began; set before `inside` while members are initialized
    depth = 0
    head_begin = 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match.group() == "{":
            head = code[head_begin:at]
            if begin is None and "(" in head and not _SCOPE.search(head):
                begin = head_begin + len(head) - len(head.lstrip())
            if begin is not None and inside is None:
                inside = depth
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if inside == depth:
                inside = None
                if not _MORE_OF_THE_HEAD.match(code, at + 1):
                    name = code[begin:at].split("(")[0].split()[-1]
                    first, last = (code.count("\n", 0, where) + 1 for where in (begin, at))
                    yield Function(name, first, last - first + 1)
                    begin = None
        head_begin = at + 1
