"""Changes the sources of src/protocols in one place each: *mutants*, many of them in one build.

A function that has mutants is written with one body for each of them beside its own. Which body
runs is chosen by the environment variable MUTANT, a number; without it, the function's own. A body
that does not compile names its mutant in the compiler's messages, as its file: `mutant-17:4:9`.

All is done with the text: comments and strings are blanked out first, and the house's format is
relied on (an operator stands between spaces, a template's bracket does not).
"""

import random
import re
from collections import defaultdict
from dataclasses import dataclass

BLANKED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^[ \t]*#[^\n]*", re.S | re.M
)
# What an operator becomes.
OPERATORS = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "%": ["/"],
    "&": ["|"],
    "|": ["&"],
    "<<": [">>"],
    ">>": ["<<"],
    "+=": ["-=", "="],
    "-=": ["+=", "="],
    "|=": ["&=", "="],
    "&=": ["|="],
}
WORDS = {
    "true": ["false"],
    "false": ["true"],
    "min": ["max"],
    "max": ["min"],
    "continue": ["break"],
    "break": ["continue"],
    "lowest": ["highest"],
}
OPERATOR = re.compile(r"(?<= )(" + "|".join(map(re.escape, OPERATORS)) + r")(?= |\n)")
WORD = re.compile(r"(?<!::)\b(" + "|".join(WORDS) + r")\b|(?<=std::)(min|max)\b")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.'])(?P<what>\d+)u?(?![\w.'])")
NEGATION = re.compile(r"!(?![=])")
ENUMERATOR = re.compile(r"\b(?P<of>[A-Z]\w*)::(?P<what>[a-z]\w*)\b(?! *[({<:])")
CONDITION = re.compile(r"\b(?:if|while) \(")
STATEMENT = re.compile(
    r"(?<=\n)[ \t]*(?P<what>[\w.\->\[\]:*]+(?:\(.*\)| [-+|&]?= [^;\n]*)|[+-]{2}\w+);"
)
KINDS = [OPERATOR, WORD, STEP, NUMBER, NEGATION, ENUMERATOR, STATEMENT]
CHECK = re.compile(r"RESPROUT_INVARIANT\(.*?\);", re.S)


@dataclass(frozen=True)
class Change:
    """In a file, the text from `begin` to `end` becomes `new`."""

    file: str  # below the root
    begin: int
    end: int
    new: str

    def key(self, text: str) -> str:
        """What it does to its line, in words that stay when lines move."""
        first = text.rfind("\n", 0, self.begin) + 1
        last = text.find("\n", self.end)
        line = text[first:last]
        changed = text[first : self.begin] + self.new + text[self.end : last]
        return f"{' '.join(line.split())}  =>  {' '.join(changed.split())}"


def blank(text: str) -> str:
    """The text without what is no code, each place where it was."""

    def spaces(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return BLANKED.sub(spaces, text)


def matching(code: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`."""
    opening = code[at]
    closing = {"(": ")", "{": "}"}[opening]
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == opening) - (code[i] == closing)
        if depth == 0:
            return i + 1
    raise ValueError(f"nothing closes the {opening} at {at}")


def bodies(code: str) -> list[tuple[int, int]]:
    """Where the bodies of functions are, braces included."""
    found = []
    head_at = i = 0
    while i < len(code):
        if code[i] in ";}":
            head_at = i + 1
        elif code[i] == "{":
            head = re.sub(r"\b(public|private|protected):", " ", code[head_at:i]).strip()
            before_call = head.split("(")[0]
            is_scope = re.search(r"\b(namespace|extern)\b", head) or (
                re.search(r"\b(class|struct|union)\b[^()]*$", head) and "enum" not in head
            )
            is_member = re.search(r"\)\s*(noexcept\s*)?:[^:]", head) and re.search(r"\w$", head)
            has_call = "(" in head and ("=" not in before_call or "operator" in before_call)
            if is_scope:
                head_at = i + 1
            else:
                end = matching(code, i)
                if has_call and not is_member:
                    found.append((i, end))
                    head_at = end
                i = end - 1
        i += 1
    return found


def enumerators(texts: list[str]) -> dict[str, list[str]]:
    """All words of each enumeration that any of the texts uses."""
    words = defaultdict(set)
    for text in texts:
        for name, word in ENUMERATOR.findall(blank(text)):
            words[name].add(word)
    return {name: sorted(some) for name, some in words.items() if len(some) > 1}


def alternatives(code: str, match: re.Match[str], words: dict[str, list[str]]) -> list[str]:
    """What may stand in the place of a match of one of KINDS."""
    text = match[0]
    if match.re is OPERATOR:
        return OPERATORS[text]
    if match.re is WORD:
        return WORDS[text]
    if match.re is STEP:
        return ["--" if text == "++" else "++"]
    if match.re is NUMBER:
        number = int(match["what"])
        is_flag = number == 1 and code[: match.start()].endswith("= ")  # is set by 2 as by 1
        return [str(new) for new in (number - 1, number + 1) if new >= 0 and not (is_flag and new)]
    if match.re is ENUMERATOR:
        return [word for word in words.get(match["of"], []) if word != match["what"]]
    return [""]  # a negation, or a statement


def changes_in(file: str, text: str, words: dict[str, list[str]]) -> list[Change]:
    """All that can be changed in the functions of a file, in the order of the text."""
    code = CHECK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), blank(text))
    found = set()
    for begin, end in bodies(blank(text)):
        for kind in KINDS:
            for match in kind.finditer(code, begin, end):
                span = match.span("what" if "what" in kind.groupindex else 0)
                for new in alternatives(code, match, words):
                    found.add(Change(file, *span, new))
        for match in CONDITION.finditer(code, begin, end):
            inside = match.end() - 1
            closed = matching(code, inside)
            found.add(Change(file, inside, closed, f"(!{text[inside:closed]})"))
    return sorted(found, key=lambda change: (change.begin, change.end, change.new))


def draw(sources: dict[str, str], seed: int, count: int) -> list[Change]:
    """So many changes of src/protocols at random, the same ones for the same sources and seed.

    Each place is as likely as any other, however many changes it has. `sources`: texts by name.
    """
    words = enumerators([text for name, text in sources.items() if name.startswith("src/core/")
                         or name.startswith("src/protocols/")])  # fmt: skip
    places: dict[tuple[str, int, int], list[Change]] = defaultdict(list)
    for file, text in sorted(sources.items()):
        if not file.startswith("src/protocols/") or re.search(r"_test\.[ch]pp$", file):
            continue
        for change in changes_in(file, text, words):
            places[file, change.begin, change.end].append(change)
    chance = random.Random(seed)
    chosen = chance.sample(sorted(places), min(count, len(places)))
    return [chance.choice(places[place]) for place in chosen]


HEADER = """\
// Which mutant this process runs. Thread rule: read only.
#pragma once
#include <cstdlib>
#include <type_traits>
namespace resprout_mutants {
inline const int chosen = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;
constexpr bool runs(int number) {
  if (std::is_constant_evaluated()) return false;
  return chosen == number;
}
}  // namespace resprout_mutants
"""


def with_mutants(file: str, text: str, mutants: dict[int, Change]) -> str:
    """The text of a file, with all of its mutants."""
    of_body = defaultdict(list)
    spans = bodies(blank(text))
    for number, change in mutants.items():
        span = next(span for span in spans if span[0] <= change.begin < span[1])
        of_body[span].append((number, change))
    out = []
    done = 0
    for begin, end in sorted(of_body):
        line = text.count("\n", 0, begin) + 1
        out.append(text[done:begin] + "{")
        for number, change in of_body[begin, end]:
            body = text[begin : change.begin] + change.new + text[change.end : end]
            out.append(f"\nif (::resprout_mutants::runs({number}))")
            out.append(f'\n#line {line} "mutant-{number}"\n{body} else')
        out.append(f'\n#line {line} "{file}"\n{text[begin:end]}}}')
        done = end
    return "".join(out) + text[done:]
