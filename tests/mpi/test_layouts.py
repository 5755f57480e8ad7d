"""All collectives of elements that lie in memory in other ways than one behind the other."""

import jobs
import pytest

CASES = [
    ("layouts", ["--collectives", "trees"], {0, 2}),
    ("layouts_nonblocking", [], {0, 3}),
    ("layouts_persistent", ["--transport", "tcp"], {2}),
]


@pytest.mark.parametrize("more", [[], ["anew"]], ids=["made before", "made after the losses"])
@pytest.mark.parametrize(("program", "options", "victims"), CASES, ids=[row[0] for row in CASES])
def test_each_element_is_what_was_given_or_as_it_was(
    program: str, options: list[str], victims: set[int], more: list[str]
) -> None:
    words = [str(jobs.PROGRAMS / program), *map(str, sorted(victims)), *more]
    ended = jobs.resprout_run(4, words, options)
    assert ended.status == 0 and ended.lost == victims, str(ended)
    assert ended.out == "450 calls\n", str(ended)
