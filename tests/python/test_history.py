"""How much waited for its verdict over time, of one process and of all."""

from resprout.report.history import NO_HISTORY, History, parse_history


def one(interval_ns: int, *open: float) -> History:
    bytes = [100 * value for value in open]
    return parse_history({"interval_ns": interval_ns, "open": open, "bytes": bytes})


def test_of_one_process_it_is_what_it_said() -> None:
    assert one(10, 1.0, 2.5).as_json() == {
        "interval_ns": 10,
        "open": [1.0, 2.5],
        "bytes": [100, 250],
    }
    assert NO_HISTORY.as_json() == {"interval_ns": 0, "open": [], "bytes": []}


def test_of_several_it_is_the_mean_and_who_has_ended_has_nothing() -> None:
    both = one(10, 4.0, 2.0, 6.0) + one(10, 2.0)
    assert both.as_json()["open"] == [3.0, 1.0, 3.0]
    assert (NO_HISTORY + both).as_json() == both.as_json()


def test_shorter_intervals_become_as_long_as_the_longest() -> None:
    both = one(10, 1.0, 3.0, 5.0, 7.0, 8.0) + one(40, 2.0)
    assert both.interval_ns == 40
    assert both.as_json()["open"] == [(4.0 + 2.0) / 2, 1.0]
    assert (one(40, 2.0) + one(10, 1.0, 3.0, 5.0, 7.0, 8.0)).as_json() == both.as_json()
