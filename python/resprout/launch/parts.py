"""A job of several programs, separated by `:` as mpirun has it: `./ocean : -n 2 ./ice`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from resprout.errors import UserError

SEPARATOR = ":"
_FORM = "behind `:` stands `-n RANKS PROGRAM [ARG]...`"
# `-n 2`, `-n2`, `-np 2`, `--np 2`, `--ranks 2`, and the long forms with `=`.
_COUNT = re.compile(r"(?:(-n|-np|--np|--ranks)|-n=?(\S+)|--(?:np|ranks)=(\S*))")


@dataclass(frozen=True)
class Part:
    """So many neighboring ranks run this program."""

    ranks: int
    program: Sequence[str]


def split(ranks: int, words: Sequence[str]) -> list[Part]:
    """The parts of a command line whose first one has so many ranks. At least one."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word == SEPARATOR:
            groups.append([])
        else:
            groups[-1].append(word)
    if len(groups) > 1 and not groups[0]:
        raise UserError("no program given before `:`; as in `-n 2 -- ./ocean : -n 2 ./ice`")
    return [Part(ranks, groups[0]), *map(_parse, groups[1:])]


def _parse(words: list[str]) -> Part:
    said = " ".join(words)
    match = _COUNT.fullmatch(words[0]) if words else None
    if match is None:
        found = f"{said!r} does not begin so" if words else "nothing stands there"
        raise UserError(f"{_FORM}: {found}")
    behind = words[1:]
    count = match[2] or match[3]
    if match[1] is not None:
        count, behind = (behind[0], behind[1:]) if behind else ("", behind)
    if not (count or "").isdecimal() or int(count) < 1:
        raise UserError(f"{_FORM}: {words[0]} is given {count!r}, which is no number of ranks")
    if behind and behind[0] == "--":
        behind = behind[1:]
    elif behind and behind[0].startswith("-"):
        raise UserError(f"{_FORM}: {behind[0]} is an option, which stands before the first program")
    if not behind:
        raise UserError(f"{_FORM}: there is no program in {said!r}")
    return Part(int(count), behind)
