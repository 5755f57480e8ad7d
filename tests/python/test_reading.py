"""What the doctor says of reading other processes' memory."""

import errno

from resprout.doctor import reading
from resprout.doctor.check import Verdict


def test_what_a_sibling_offers_is_read_or_refused_by_the_system() -> None:
    assert reading.try_reading() in (0, errno.EPERM, errno.EACCES, errno.ENOSYS)


def test_what_nobody_has_is_not_read() -> None:
    """No address is negative."""
    assert reading.try_reading(shift=-(1 << 63)) != 0


def test_who_may_not_read_is_told_what_that_costs() -> None:
    found = reading.verdict_of(errno.EPERM)
    assert found.verdict is Verdict.DOUBTFUL
    assert "Operation not permitted" in found.text
    assert "go in slices" in found.text
    assert reading.verdict_of(0).verdict is Verdict.GOOD
