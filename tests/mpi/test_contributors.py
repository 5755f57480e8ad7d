"""resprout_contributors after each kind of collective."""

import jobs
import pytest

OPTIONS = [[], ["--missing", "7"], ["--collectives", "trees", "--transport", "tcp"]]


@pytest.mark.parametrize("options", OPTIONS, ids=["auto", "missing", "tcp"])
def test_after_each_kind_of_collective_those_are_named_who_are_in_it(options: list[str]) -> None:
    ended = jobs.resprout_run(5, [jobs.PROGRAMS / "contributors"], options)
    assert ended.status == 0 and ended.lost == {2}, str(ended)
