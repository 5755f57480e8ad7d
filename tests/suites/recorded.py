"""Runs mpi4py's tests in one rank, and writes down what each of them came to.

    recorded.py FILE MAIN ARGUMENT...       MAIN: test/main.py of mpi4py

A line of FILE.RANK is a word and the name of a test: `begun`, `ok`, `skipped` or `failed`.
"""

import os
import runpy
import sys
import unittest
from typing import TextIO

RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK")


class Recorded(unittest.TextTestResult):
    file: TextIO

    def _note(self, word: str, test: unittest.TestCase) -> None:
        # The last line of a rank that dies or hangs tells in which test that was.
        self.file.write(f"{word} {test.id()}\n")
        self.file.flush()

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._note("begun", test)
        super().startTest(test)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._note("ok", test)
        super().addSuccess(test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self._note("skipped", test)
        super().addSkip(test, reason)

    def addFailure(self, test, error) -> None:  # type: ignore[no-untyped-def]  # noqa: N802
        self._note("failed", test)
        super().addFailure(test, error)

    def addError(self, test, error) -> None:  # type: ignore[no-untyped-def]  # noqa: N802
        self._note("failed", test)
        super().addError(test, error)

    def addSubTest(self, test, part, error) -> None:  # type: ignore[no-untyped-def]  # noqa: N802
        if error is not None:
            self._note("failed", test)
        super().addSubTest(test, part, error)


def main() -> None:
    _, path, program, *arguments = sys.argv
    rank = next(os.environ[name] for name in RANKS if name in os.environ)
    with open(f"{path}.{rank}", "w") as Recorded.file:  # noqa: PTH123
        unittest.TextTestRunner.resultclass = Recorded  # type: ignore[assignment]
        sys.argv = [program, *arguments]
        sys.path.insert(0, os.path.dirname(program))  # noqa: PTH120
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
