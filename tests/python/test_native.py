"""The C interface of the simulator: both sides of it say the same."""

import ctypes
import re
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
