"""What is refused in a step of Slurm."""

import pytest
from resprout.errors import UserError
from resprout.launch.slurm import check_step


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"SLURM_JOB_ID": "7"},
        {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1"},
        # The shell that salloc has started.
        {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "2"},
    ],
)
def test_an_allocation_and_a_step_of_one_task_are_accepted(environment: dict[str, str]) -> None:
    check_step(environment)


def test_a_step_of_several_tasks_is_refused() -> None:
    environment = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4"}
    with pytest.raises(UserError, match=r"has started resprout run 4 times.*without srun"):
        check_step(environment)


def test_a_step_of_pmix_is_refused() -> None:
    environment = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "PMIX_RANK": "0"}
    with pytest.raises(UserError, match=r"srun --mpi=pmix .*without srun"):
        check_step(environment)
