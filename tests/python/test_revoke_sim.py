"""`resprout sim revoke`: the flood on the LogP machine, and the paper's benchmark on it."""

import pytest
from resprout.native import Simulation, check_simulation


@pytest.mark.parametrize(("procs", "degree"), [(1, 0), (2, 1), (5, 4), (64, 11), (6000, 26)])
def test_each_process_tells_each_of_its_neighbors_once(procs: int, degree: int) -> None:
    run = Simulation("revoke", procs=procs).run()
    assert (run["uncolored"], run["messages"]) == (0, procs * degree)


def test_who_revokes_at_the_same_time_or_later_adds_no_message() -> None:
    alone = Simulation("revoke", procs=100).run()
    many = Simulation("revoke", procs=100, initiators="0,17,50@3,99@1000").run()
    assert many["messages"] == alone["messages"]
    assert many["coloring_latency"] is not None and alone["coloring_latency"] is not None
    assert many["coloring_latency"] < alone["coloring_latency"]


def test_while_nobody_revokes_nothing_is_sent() -> None:
    run = Simulation("revoke", procs=100, initiators="none").run(faults="30", fail_at=["0@5"])
    assert (run["messages"], run["coloring_latency"], run["uncolored"]) == (0, None, 69)


def test_if_all_who_know_die_nobody_learns() -> None:
    run = Simulation("revoke", procs=100).run(fail_at=["0@0"])
    assert (run["coloring_latency"], run["uncolored"]) == (None, 99)


@pytest.mark.parametrize("faults", ["1%", "50%", "90%", "60+30@20"])
def test_whoever_has_died_all_who_live_learn(faults: str) -> None:
    simulation = Simulation("revoke", procs=100)
    assert all(simulation.run(faults=faults, seed=seed)["uncolored"] == 0 for seed in range(200))


def test_with_the_ring_left_open_the_dead_can_cut_some_off() -> None:
    # Of eight processes 0 and 3 are not linked.
    opened = Simulation("revoke:ring=open", procs=8).run(faults="1,2,4,5,6,7")
    closed = Simulation("revoke", procs=8).run(faults="1,2,4,5,6,7")
    assert (opened["uncolored"], closed["uncolored"]) == (1, 0)


@pytest.mark.parametrize("plan", ["barrier", "allreduce"])
@pytest.mark.parametrize("procs", [2, 8, 64])
def test_an_undisturbed_operation_of_a_plan_takes_a_message_a_step(plan: str, procs: int) -> None:
    steps = procs.bit_length() - 1
    for operation, initiators in ((-4, "root"), (-1, "root"), (0, "none"), (9, "none")):
        spec = f"revoke:plan={plan},operation={operation}"
        run = Simulation(spec, procs=procs, initiators=initiators).run()
        assert (run["completion_latency"], run["output_spread"]) == (4 * steps, 0)


@pytest.mark.parametrize("plan", ["barrier", "allreduce"])
@pytest.mark.parametrize("initiators", ["root", "0,1,2,3", "7,99"])
def test_after_plan_a_is_revoked_plan_b_goes_on_everywhere(plan: str, initiators: str) -> None:
    latencies = {}
    for operation in (-1, 0, 1, 2, 32):
        spec = f"revoke:plan={plan},operation={operation}"
        run = Simulation(spec, procs=100, initiators=initiators).run()
        assert run["uncolored"] == 0
        latencies[operation] = run["completion_latency"]
    assert latencies[1] > latencies[2] > latencies[-1]


@pytest.mark.parametrize(
    ("spec", "machine", "complaint"),
    [
        ("revoke", {"initiators": "8"}, "ranks from 0 to 7"),
        ("revoke:plan=barrier", {"initiators": "3@7"}, "give no times"),
        ("revoke:plan=barrier", {"faults": "1"}, "the operations of a plan bear none"),
        ("revoke:plan=barrier", {"fail_at": ["1@0"]}, "the operations of a plan bear none"),
        ("ftco-allreduce", {"initiators": "3"}, "only processes of revoke revoke"),
        ("revoke", {"faults": "0,"}, "has the root"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    spec: str, machine: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_simulation(spec, procs=8, **machine)


def mean_duration(operation: int, *, noise: str, initiators: str = "root") -> float:
    spec = f"revoke:plan=barrier,operation={operation}"
    simulation = Simulation(spec, procs=250, noise=noise, initiators=initiators)
    runs = 1 if noise == "none" else 30
    durations = [simulation.run(seed=seed)["completion_latency"] for seed in range(runs)]
    return sum(durations) / runs


def test_jitter_of_a_revocation_lasts_without_noise_and_is_covered_by_noise() -> None:
    """Section 4.2: after the fifth barrier there is none that could be observed."""
    kept = mean_duration(6, noise="none") / mean_duration(6, noise="none", initiators="none")
    faded = mean_duration(6, noise="0.5") / mean_duration(6, noise="0.5", initiators="none")
    first = mean_duration(1, noise="0.5") / mean_duration(6, noise="0.5", initiators="none")
    assert kept > 1.3
    assert faded < 1.08
    assert first > 1.3


def test_noise_is_refused_where_there_is_none_and_where_it_makes_no_sense() -> None:
    for spec, noise in (("membership", "0.5"), ("revoke", "a lot"), ("revoke", "0.0001")):
        with pytest.raises(ValueError, match=r"^noise: "):
            check_simulation(spec, procs=8, noise=noise)
    in_band = "ftco-allreduce:detection=in-band"
    with pytest.raises(ValueError, match=r"^noise: "):
        check_simulation(in_band, procs=8, noise="0.5")


def test_noise_makes_runs_differ_by_their_seeds_alone() -> None:
    def latencies(noise: str) -> list[int | None]:
        simulation = Simulation("corrected-tree:correction=none", procs=256, noise=noise)
        return [simulation.run(seed=seed)["coloring_latency"] for seed in range(20)]

    assert len(set(latencies("none"))) == 1
    assert len(set(latencies("1"))) > 3
    assert latencies("1") == latencies("1")
    quiet, loud = latencies("none")[0], min(time for time in latencies("1") if time is not None)
    assert quiet is not None and loud > quiet
