"""Whether what was measured here is there for `resprout run` to go by."""

from collections.abc import Iterator, Mapping

from resprout.calibration import store
from resprout.calibration.figures import ranks_of
from resprout.doctor.check import Check, Verdict
from resprout.errors import UserError
from resprout.launch.mpi import Mpi


def check_calibration(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[Check]:
    """Nothing if there is no file."""
    name = "calibration"
    path = store.default_path(environment)
    if not path.exists():
        return
    try:
        found = store.find(path, store.this_machine(str(mpi)))
    except UserError as error:
        yield Check(name, Verdict.BAD, str(error))
        return
    if found is None:
        text = f"{path} has nothing for this machine and MPI: `resprout calibrate` adds it"
        yield Check(name, Verdict.DOUBTFUL, text)
        return
    ranks = ", ".join(map(str, ranks_of(found.measured)))
    yield Check(name, Verdict.GOOD, f"{path}: measured on {found.date} with {ranks} ranks")
