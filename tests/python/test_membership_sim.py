"""`resprout sim membership`: the paper's stabilization on the LogP machine."""

import itertools

import pytest
from resprout.native import Simulation, check_simulation


@pytest.mark.parametrize("radix", [2, 4, 8, 16])
@pytest.mark.parametrize("fail_at", [["5@0"], ["0@0"], ["0@3", "1@3", "9@4"], ["7@0", "3@9"]])
def test_all_who_live_end_in_the_view_of_those_who_live(radix: int, fail_at: list[str]) -> None:
    run = Simulation(f"membership:radix={radix}", procs=100).run(fail_at=fail_at)
    assert run["contributors"] == 100 - len(fail_at)
    assert run["uncolored"] == 0
    assert run["completion_latency"] > 0


def test_without_a_failure_nothing_is_sent() -> None:
    run = Simulation("membership", procs=1000).run()
    assert (run["messages"], run["contributors"]) == (0, 1000)


def test_stabilization_takes_two_messages_a_process_and_one_to_install() -> None:
    run = Simulation("membership", procs=1024).run(fail_at=["1023@0"])
    # Its parent reports it and is acknowledged; then 1022 proposals, acceptances, installations.
    assert run["messages"] == 2 + 3 * 1022


def test_stabilization_grows_as_the_height_of_the_tree() -> None:
    latencies = [
        Simulation("membership", procs=procs).run(fail_at=[f"{procs - 1}@0"])["completion_latency"]
        for procs in (64, 256, 1024, 4096)
    ]
    steps = [later - earlier for earlier, later in itertools.pairwise(latencies)]
    assert max(steps) == min(steps)


@pytest.mark.parametrize("radix", [2, 4, 8, 16])
@pytest.mark.parametrize("fail_at", [["5@0"], ["0@0"], ["0@3", "1@3", "9@4"], ["7@0", "3@9"]])
def test_with_local_views_they_end_in_the_same_one(radix: int, fail_at: list[str]) -> None:
    run = Simulation(f"membership:radix={radix},views=local", procs=100).run(fail_at=fail_at)
    assert run["contributors"] == 100 - len(fail_at)
    assert run["uncolored"] == 0
    assert run["completion_latency"] > 0


def test_with_local_views_stabilization_has_no_acknowledgment_and_tells_who_is_removed() -> None:
    run = Simulation("membership:views=local", procs=1024).run(fail_at=["1023@0"])
    assert run["messages"] == 1 + 3 * 1022 + 1


def test_with_local_views_a_failure_among_many_is_counted_exactly() -> None:
    run = Simulation("membership:radix=4,views=local", procs=1 << 17).run(fail_at=["77@0"])
    assert (run["contributors"], run["uncolored"]) == ((1 << 17) - 1, 0)


@pytest.mark.parametrize(
    ("spec", "machine", "complaint"),
    [
        ("membership", {"procs": 4097}, "from 1 to 4096; views=local allows more"),
        ("membership:views=local", {"procs": (1 << 22) + 1}, "from 1 to 4194304"),
        ("membership", {"procs": 4, "root": 1}, "the lowest member"),
        ("membership:views=none", {"procs": 4}, "one of whole, local"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    spec: str, machine: dict[str, int], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_simulation(spec, **machine)
