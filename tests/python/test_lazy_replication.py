"""Traces of benchmarks, and how they are replayed: Lazy Fault Detection for Redundant MPI."""

from collections import Counter

import pytest
from resprout.experiments.bench.replication.paper import PUBLISHED
from resprout.experiments.reproduce.lazy_replication.cluster import CLUSTERS, Cluster
from resprout.experiments.reproduce.lazy_replication.replay import Replay, compute_seconds
from resprout.experiments.reproduce.lazy_replication.traces import Step, Trace, trace_of

LINES = sorted({(r.benchmark, r.problem, r.processes) for r in PUBLISHED if r.processes <= 64})
# No chance, nothing that costs: only computing and delays of a millisecond between nodes.
QUIET = Cluster(1, 1e-3, 1e-9, 0.0, 0.0)


@pytest.mark.parametrize(("benchmark", "problem", "ranks"), LINES)
def test_every_receive_has_its_send_and_all_computing_adds_up(
    benchmark: str, problem: str, ranks: int
) -> None:
    trace = trace_of(benchmark, problem, ranks)
    sent = Counter(
        (r, s.peer) for r, own in enumerate(trace.ranks) for s in own if s.kind == "send"
    )
    received = Counter(
        (s.peer, r) for r, own in enumerate(trace.ranks) for s in own if s.kind == "receive"
    )
    assert sent == received
    assert all(source != target for source, target in sent)
    for own in trace.ranks:
        assert sum(s.amount for s in own if s.kind == "compute") == pytest.approx(1)


def ring() -> Trace:
    """Two ranks that compute, say a byte, and hear one: twice."""
    return Trace(
        [[Step("compute", amount=0.5), Step("send", 1 - r, 1), Step("receive", 1 - r)] * 2
         for r in range(2)],
        1,
    )  # fmt: skip


def test_a_replay_takes_what_is_computed_and_a_delay_for_each_message() -> None:
    ended = Replay(ring(), 1, "", QUIET, 2.0).run()
    assert ended.seconds == pytest.approx(2 + 2e-3, abs=1e-5)
    assert ended.messages == 4


@pytest.mark.parametrize(
    ("method", "copies"), [("all-to-all", 9), ("async", 9), ("msg-plus-hash", 6), ("async-hash", 6)]
)
def test_a_message_is_sent_as_often_as_its_method_says(method: str, copies: int) -> None:
    assert Replay(ring(), 3, method, QUIET, 2.0).run().messages == 4 * copies


@pytest.mark.parametrize(
    ("method", "seconds"),
    [("all-to-all", 4), ("msg-plus-hash", 4), ("async-hash", 4), ("async-own", 4), ("async", 2)],
)
def test_who_is_held_up_by_a_slow_process_of_each_plane(method: str, seconds: float) -> None:
    """Rank 0 is slow in one plane, and rank 1 in the other: the copy of the other plane comes
    first, unless the method waits for the own one or for all."""
    ended = Replay(ring(), 2, method, QUIET, 2.0, slowness={0: 2.0, 3: 2.0}).run()
    assert ended.first_seconds == pytest.approx(seconds, abs=0.01)
    assert ended.seconds == pytest.approx(4, abs=0.01)


def test_every_request_is_freed_in_the_end() -> None:
    for method in ("all-to-all", "async", "msg-plus-hash", "async-hash"):
        ended = Replay(trace_of("sp", "A", 16), 2, method, CLUSTERS[2], 0.1).run()
        assert sum(change for _, change in ended.requests) == 0
        assert sum(change > 0 for _, change in ended.requests) == 2 * sum(
            s.kind == "receive" for own in trace_of("sp", "A", 16).ranks for s in own
        )


def test_a_receive_without_its_send_is_found() -> None:
    trace = Trace([[Step("receive", 1)], []], 1)
    with pytest.raises(RuntimeError, match="no send"):
        Replay(trace, 1, "", QUIET, 1.0).run()


def test_computing_is_chosen_so_that_one_copy_takes_the_time_that_is_given() -> None:
    compute = compute_seconds(ring(), QUIET, 5.0)
    assert Replay(ring(), 1, "", QUIET, compute).run().seconds == pytest.approx(5.0)
    assert compute_seconds(ring(), QUIET, 1e-6) == 0.0
