"""The C interface of the simulator: both sides of it say the same."""

import ctypes
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from resprout import native

HEADER = Path(__file__).resolve().parents[2] / "src" / "bindings" / "resprout_sim.h"
# What a type of the header is in Python; all pointers to structures are one.
TYPES = {
    "const char*": ctypes.c_char_p,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
}
STRUCTURES = {
    "resprout_option": native._COption,
    "resprout_protocol": native._CProtocol,
    "resprout_machine": native._CMachine,
    "resprout_run": native._CRun,
    "resprout_traced_message": native._CTracedMessage,
    "resprout_traced_event": native._CTracedEvent,
    "resprout_traced_death": native._CTracedDeath,
    "resprout_stabilization_scene": native._CScene,
    "resprout_stabilized": native._CStabilized,
}


def fields_of_the_header(structure: str) -> list[tuple[str, object]]:
    body = re.search(r"typedef struct \{([^}]*)\} " + structure + ";", HEADER.read_text())
    assert body is not None
    members = re.findall(r"^\s*([^;/]+[*\s])(\w+);", body.group(1), re.MULTILINE)
    return [(name, TYPES.get(kind.strip(), "structures")) for kind, name in members]


def fields_of_python(structure: type[ctypes.Structure]) -> list[tuple[str, object]]:
    known = set(TYPES.values())
    return [(name, kind if kind in known else "structures") for name, kind in structure._fields_]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_has_the_same_fields_on_both_sides(structure):
    assert fields_of_python(STRUCTURES[structure]) == fields_of_the_header(structure)


def test_every_structure_of_the_header_is_known_to_python():
    assert set(re.findall(r"^\} (\w+);", HEADER.read_text(), re.MULTILINE)) == set(STRUCTURES)


def test_a_refused_simulation_says_why_and_the_next_one_runs():
    with pytest.raises(ValueError, match="procs=0 is not from 1 to"):
        native.Simulation("corrected-tree", procs=0)
    with pytest.raises(ValueError, match="seed=-1 is not from 0"):
        native.Simulation("corrected-tree", procs=4).run(seed=-1)
    assert native.Simulation("corrected-tree", procs=4).run()["uncolored"] == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"spec": "corrected-tree:tree=palm"}, "palm"),
        ({"procs": 0}, "procs=0 is not from 1 to"),
        ({"procs": 2**63}, "procs=9223372036854775808 is out of range"),
        ({"root": 8}, "root=8 is not from 0 to 7"),
        ({"spec": "ftco-allreduce", "root": 1}, "an allreduce has no root"),
        ({"faults": "8"}, "a count below 8"),
        ({"fail_at": ["1@5", "8@5"]}, "8@5"),
    ],
)
def test_a_check_refuses_what_a_run_would_refuse_and_says_the_same(wrong, said):
    machine = {"spec": "corrected-tree", "procs": 8, "root": 0}
    run = {"faults": "1", "fail_at": ["1@5"]}
    native.check_simulation(**machine, **run)
    for given in (machine, run):
        given.update({key: value for key, value in wrong.items() if key in given})
    with pytest.raises(ValueError, match=said) as checked:
        native.check_simulation(**machine, **run)
    with pytest.raises(ValueError) as ran:
        native.Simulation(**machine).run(**run)
    assert str(checked.value) == str(ran.value)


def test_many_runs_in_one_call_are_the_same_as_one_by_one():
    simulation = native.Simulation("corrected-tree", procs=100)
    given = {"faults": "5%", "fail_at": ["7@3"]}
    rows = simulation.run_many(**given, first_seed=11, count=20)
    width = 8 * len(native.MEASURED)
    cells = f"={len(native.MEASURED) - 1}qQ"
    values = [struct.unpack_from(cells, rows, start) for start in range(0, len(rows), width)]
    runs = [dict(zip(native.MEASURED, row, strict=True)) for row in values]
    assert len(runs) == 20
    for seed, many in enumerate(runs, 11):
        one = simulation.run(**given, seed=seed)
        assert many.pop("trace_digest") == int(one["trace_digest"], 16)
        measured = {name: None if many[name] == native.NONE else many[name] for name in many}
        assert measured == {name: one.get(name) for name in measured}
    assert len({run["quiescence_latency"] for run in runs}) > 1


@pytest.mark.parametrize("fail_at", [[], ["7@3"], ["7@0"]])
def test_without_a_digest_all_else_is_the_same(fail_at):
    given = {"faults": "5%", "fail_at": fail_at, "first_seed": 11, "count": 20}
    rows = [
        native.Simulation("corrected-tree", procs=100, digest=digest).run_many(**given)
        for digest in (True, False)
    ]
    with_digest, without = (
        list(struct.iter_unpack(f"={len(native.MEASURED) - 1}qQ", row)) for row in rows
    )
    assert [row[:-1] for row in without] == [row[:-1] for row in with_digest]
    assert {row[-1] for row in without} == {0}
    assert 0 not in {row[-1] for row in with_digest}


def test_what_is_computed_is_known_before_it_is_run():
    assert native.is_computed("corrected-tree", procs=100, fail_at=["3@0"])
    assert not native.is_computed("corrected-tree", procs=100, fail_at=["3@0", "4@1"])
    assert not native.is_computed("corrected-tree:start=overlapped", procs=100)
    with pytest.raises(ValueError, match="procs=0 is not from 1 to"):
        native.is_computed("corrected-tree", procs=0)
    with pytest.raises(ValueError, match="overhead=0 is not from 1 to"):
        native.is_computed("corrected-tree", procs=100, overhead=0)
    with pytest.raises(ValueError, match="3@soon"):
        native.is_computed("corrected-tree", procs=100, fail_at=["3@soon"])


def test_seeds_of_many_runs_end_where_the_numbers_end():
    simulation = native.Simulation("corrected-tree", procs=4)
    assert len(simulation.run_many(first_seed=2**64 - 2, count=2)) == 2 * 8 * len(native.MEASURED)
    with pytest.raises(ValueError, match="is not from 0 to"):
        simulation.run_many(first_seed=2**64 - 2, count=3)


def test_faults_are_those_of_the_call_whatever_was_asked_before():
    simulation = native.Simulation("corrected-tree", procs=100)
    asked = ("10%", "none", "10%", "3,7", "5")
    runs = [simulation.run(faults=faults, seed=4) for faults in asked]
    with pytest.raises(ValueError, match="faults: '100' is none of"):
        simulation.run(faults="100")
    runs.append(simulation.run(faults="5", seed=4))
    fresh = [
        native.Simulation("corrected-tree", procs=100).run(faults=faults, seed=4)
        for faults in (*asked, "5")
    ]
    assert runs == fresh


def test_a_trace_belongs_to_the_run_that_was_asked_for():
    simulation = native.Simulation("corrected-tree", procs=8, trace=True)
    whole = simulation.run()["trace"]
    partial = simulation.run(faults="1,")["trace"]
    assert all(message["received"] is not None for message in whole["messages"])
    lost = [message for message in partial["messages"] if message["received"] is None]
    assert lost and {message["to"] for message in lost} == {1}
    assert simulation.run()["trace"] == whole


def test_a_trace_names_the_dead_those_that_were_drawn_too():
    simulation = native.Simulation("corrected-tree", procs=100, trace=True)
    deaths = simulation.run(faults="7", fail_at=["1@5"], seed=3)["trace"]["deaths"]
    drawn = [death["rank"] for death in deaths if death["at"] == 0]
    assert len(set(drawn)) == 7
    assert [death for death in deaths if death["at"] > 0] == [{"at": 5, "rank": 1}]
    colored = {event["rank"] for event in simulation.run()["trace"]["events"]}
    assert colored == set(range(100))
    events = simulation.run(faults="7", seed=3)["trace"]["events"]
    assert {event["rank"] for event in events} == colored - set(drawn)


def test_threads_may_share_a_simulation():
    code = (
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "from resprout import native\n"
        "s = native.Simulation('corrected-tree', procs=1024)\n"
        "run = lambda seed: s.run(faults='2%', seed=seed)['trace_digest']\n"
        "alone = [run(seed) for seed in range(200)]\n"
        "with Pool(4) as pool: assert list(pool.map(run, range(200))) == alone\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
