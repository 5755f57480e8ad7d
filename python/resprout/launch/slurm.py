"""What cannot be asked of a job in a step of Slurm."""

from collections.abc import Mapping

from resprout.errors import UserError

_REMEDY = "call it from the script of sbatch, or after salloc, without srun"
# From here on a step's number says what it is for: a batch script, or the shell of salloc.
_SPECIAL_STEPS = 0xFFFFFFF0


def check_step(environment: Mapping[str, str]) -> None:
    """REQUIRES: `environment` is that of `resprout run`."""
    step = environment.get("SLURM_STEP_ID", "")
    if not step.isdigit() or int(step) >= _SPECIAL_STEPS:
        return
    tasks = environment.get("SLURM_STEP_NUM_TASKS", "1")
    if tasks != "1":
        raise UserError(
            f"srun has started resprout run {tasks} times, and each would start all ranks; "
            f"{_REMEDY}"
        )
    if "PMIX_RANK" in environment:
        raise UserError(
            f"srun --mpi=pmix has started resprout run, and ends all if one rank is lost; {_REMEDY}"
        )
