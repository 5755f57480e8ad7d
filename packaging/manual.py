"""Writes the manual pages of all commands, and what lets shells complete them.

    python packaging/manual.py FOLDER

Both are made of the tree of commands, so that they say what `--help` says. FOLDER then has the
folders of a system's `share`: man, bash-completion, zsh, fish.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

COMPLETIONS = {
    "bash": "bash-completion/completions/resprout",
    "zsh": "zsh/site-functions/_resprout",
    "fish": "fish/vendor_completions.d/resprout.fish",
}


def escaped(text: str) -> str:
    """Plain text for troff: nothing of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in text.split("\n"))


def styled(text: str) -> str:
    """Text of our help: what stands in backquotes, or between asterisks, is bold."""
    return re.sub(r"\*\*(.+?)\*\*|`(.+?)`", lambda m: f"\\fB{m[1] or m[2]}\\fR", escaped(text))


def description(text: str) -> Iterator[str]:
    """Paragraphs, and blocks that stand as they are."""
    for block in re.split(r"\n{2,}", text.strip("\n")):
        if block.startswith("    "):
            yield ".PP\n.RS 4\n.nf"
            yield escaped("\n".join(line[4:] for line in block.split("\n")))
            yield ".fi\n.RE"
        elif block.strip():
            yield f".PP\n{styled(block.strip())}"


def value_of(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.strip("_").upper())


def option(parameter: Any) -> Iterator[str]:
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in parameter.opts)
    value = "" if parameter.is_flag else f" \\fI{escaped(value_of(parameter))}\\fR"
    yield f".TP\n{names}{value}"
    sentences = [styled(parameter.help or "")]
    if parameter.required:
        sentences.append("It must be given.")
    elif parameter.show_default and parameter.default not in (None, False, ""):
        sentences.append(f"Without it: {escaped(str(parameter.default))}.")
    if parameter.envvar:
        sentences.append(f"Variable: \\fB{escaped(parameter.envvar)}\\fR.")
    yield " ".join(sentence for sentence in sentences if sentence) or "\\&"


def synopsis(command: Any, words: str) -> str:
    options = [p for p in command.params if p.param_type_name == "option"]
    parts = [f"\\fB{escaped(words)}\\fR"]
    parts += [
        f"\\fB{escaped(p.opts[0])}\\fR \\fI{escaped(value_of(p))}\\fR"
        for p in options
        if p.required
    ]
    parts += ["[\\fIOPTION\\fR]..."] if options else []
    parts += [
        f"\\fI{escaped(value_of(p))}\\fR" for p in command.params if p.param_type_name == "argument"
    ]
    parts += ["\\fICOMMAND\\fR [\\fIARGUMENT\\fR]..."] if hasattr(command, "commands") else []
    return " ".join(parts)


def summary(command: Any) -> str:
    """The first sentence of its help, without the point."""
    first = " ".join((command.help or "").strip().split("\n\n")[0].split())
    return re.split(r"\.(?: |$)", first)[0]


def page(command: Any, words: str, version: str) -> str:
    """The page of `words`, as in `resprout bench bcast`."""
    name = words.replace(" ", "-")
    lines = [f'.TH {escaped(name).upper()} 1 "" "Resprout {version}" "Resprout"']
    lines += [".SH NAME", f"{escaped(name)} \\- {styled(summary(command))}"]
    lines += [".SH SYNOPSIS", synopsis(command, words)]
    lines += [".SH DESCRIPTION", *description(command.help or "")]
    arguments = [p for p in command.params if p.param_type_name == "argument" and p.help]
    if arguments:
        lines.append(".SH ARGUMENTS")
        lines += [f".TP\n\\fI{escaped(value_of(p))}\\fR\n{styled(p.help)}" for p in arguments]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    if options:
        lines.append(".SH OPTIONS")
        lines += [line for parameter in options for line in option(parameter)]
    inner = {n: c for n, c in getattr(command, "commands", {}).items() if not c.hidden}
    if inner:
        lines.append(".SH COMMANDS")
        for each, what in inner.items():
            lines.append(f".TP\n\\fB{escaped(f'{name}-{each}')}\\fR(1)\n{styled(summary(what))}.")
    if " " in words:
        above = words.rpartition(" ")[0].replace(" ", "-")
        lines += [".SH SEE ALSO", f"\\fB{escaped(above)}\\fR(1)"]
    return "\n".join(lines) + "\n"


def pages(command: Any, words: str, version: str) -> Iterator[tuple[str, str]]:
    """Names of files and pages, of the command and all below it."""
    yield f"{words.replace(' ', '-')}.1", page(command, words, version)
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from pages(inner, f"{words} {name}", version)


def completion(shell: str) -> str:
    from typer._completion_shared import get_completion_script

    text = get_completion_script(
        prog_name="resprout", complete_var="_RESPROUT_COMPLETE", shell=shell
    )
    # Zsh reads the file when it completes for the first time, and wants an answer then, too.
    return f"{text}\n" + ('_resprout_completion "$@"\n' if shell == "zsh" else "")


def main(folder: Path) -> None:
    import typer
    from resprout import __version__
    from resprout.cli import app

    manual = folder / "man" / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    for old in manual.glob("*.1"):
        old.unlink()
    for name, text in pages(typer.main.get_command(app), "resprout", __version__):
        (manual / name).write_text(text)
    for shell, name in COMPLETIONS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(completion(shell))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
