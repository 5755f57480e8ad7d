"""Options from a file: `resprout.toml` in the working directory, or the one that --config names.

A table of the file is a command, and its keys are the command's options without the dashes. The
command line goes before the environment, and that before the file.
"""

import difflib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from resprout.errors import UserError
from resprout.options import BY_FLAG

NAME = "resprout.toml"
_FLAG = "--config"
# What stands on the command line only.
_NO_KEYS = {"--help", _FLAG}


def config_option() -> typer.models.OptionInfo:
    """The option --config of a command, whose table of the file is then in force."""
    option = BY_FLAG[_FLAG]
    info: typer.models.OptionInfo = typer.Option(
        _FLAG,
        envvar=option.variable,
        help=option.cli_help,
        metavar=option.metavar,
        show_default=False,
        is_eager=True,
        callback=_apply,
    )
    return info


def keys_of(command: Any) -> dict[str, Any]:
    """The options of a command that a file may have, by key."""
    options = [one for one in command.params if one.param_type_name == "option"]
    long = ((one, [word for word in one.opts if word.startswith("--")]) for one in options)
    return {words[0][2:]: one for one, words in long if words and words[0] not in _NO_KEYS}


def _apply(context: typer.Context, file: Path | None) -> Path | None:
    """Has the file's table stand in for options that are not given. The file, if there is one."""
    path = Path(NAME) if file is None else file
    if context.resilient_parsing or (file is None and not path.exists()):
        return None
    tables = _read(path)
    commands = _commands_with_a_table(context)
    for table in tables:
        if table not in commands:
            valid = ", ".join(f"[{name}]" for name in sorted(commands))
            raise UserError(f"{path}: [{table}] is no table of this file; there are {valid}")
    found = {name: dict(_values(path, name, tables.get(name, {}), commands[name]))
             for name in commands}  # fmt: skip
    context.default_map = found[str(context.info_name)]
    return path


def _commands_with_a_table(context: typer.Context) -> dict[str, Any]:
    root: Any = context.parent.command if context.parent is not None else None
    everyone = {} if root is None else root.commands
    return {
        name: command
        for name, command in everyone.items()
        if any(_FLAG in one.opts for one in command.params)
    }


def _read(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{_FLAG}: {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no TOML: {error}") from error
    return found


def _values(path: Path, table: str, given: Any, command: Any) -> Iterator[tuple[str, Any]]:
    """By parameter."""
    if not isinstance(given, Mapping):
        raise UserError(f"{path}: {table} is no table; begin it with [{table}]")
    keys = keys_of(command)
    for key, value in given.items():
        if key not in keys:
            close = difflib.get_close_matches(key, keys, n=1)
            advice = f"did you mean {close[0]}? " if close else ""
            raise UserError(
                f"{path}: [{table}] {key} is no option of `resprout {table}`; {advice}"
                f"valid are {', '.join(sorted(keys))}"
            )
        try:
            yield keys[key].name, _converted(value, keys[key])
        except ValueError as error:
            raise UserError(f"{path}: [{table}] {key} has to be {error}") from error


def _converted(value: Any, option: Any) -> Any:
    """As the command line has it. ValueError says what is valid."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value
    if option.multiple:
        return [_word(one) for one in (value if isinstance(value, list) else [value])]
    return _word(value)


def _word(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a text or a number")
    return str(value)
