"""What was tried already, in a file: a torture that was broken off goes on where it was."""

import json
from collections.abc import Sequence
from pathlib import Path

from resprout.errors import UserError
from resprout.torture.trial import Trial

_SCHEMA = 1


class Book:
    """Lines of JSON: what is tried, then a trial each. A line that was cut short counts as none."""

    def __init__(self, path: Path | None, what: Sequence[str]) -> None:
        """`what`: the command line, without which trials mean nothing. Raises UserError if the file
        is of another one."""
        self._path = path
        self._trials: dict[tuple[str, ...], Trial] = {}
        if path is None:
            return
        head = json.dumps({"schema": _SCHEMA, "torture": list(what)})
        try:
            lines = path.read_text().splitlines() if path.exists() else []
            if not lines:
                path.write_text(head + "\n")
            elif lines[0] != head:
                raise UserError(f"--state: {path} is of another program, or has other options")
        except OSError as error:
            raise UserError(f"--state: {path}: {error.strerror}") from error
        for line in lines[1:]:
            try:
                trial = Trial.of_json(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue
            self._trials[trial.faults] = trial

    def find(self, faults: Sequence[str]) -> Trial | None:
        return self._trials.get(tuple(faults))

    def add(self, trial: Trial) -> None:
        self._trials[trial.faults] = trial
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(trial.as_json()) + "\n")
