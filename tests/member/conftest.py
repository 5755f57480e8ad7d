"""What the tests of the membership over TCP share."""

from collections.abc import Callable, Iterator

import pytest
from groups import Group


@pytest.fixture
def group() -> Iterator[Callable[..., Group]]:
    """Makes groups of members; none of their processes outlives the test."""
    groups: list[Group] = []

    def make(size: int, **options: int | str) -> Group:
        groups.append(Group(**options))
        groups[-1].found(size)
        return groups[-1]

    yield make
    for made in groups:
        made.end()
