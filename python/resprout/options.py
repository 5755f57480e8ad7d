"""The options of `resprout run`, in one table.

`resprout run --help` and docs/reference/environment.md come from it, and so does the check for
misspelled variables. src/mpi/process/options.cpp reads those that reach the ranks.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from resprout.errors import UserError
from resprout.option_values import CHECKS

PREFIX = "RESPROUT_"


@dataclass(frozen=True)
class Option:
    """One option, and the variable that stands for it where the option is not given."""

    flag: str
    variable: str
    metavar: str
    valid: str
    """How valid values look, for people."""
    default: str
    """What happens without it, for people."""
    help: str
    reaches_ranks: bool = True
    """False: the launcher alone reads it."""

    @property
    def cli_help(self) -> str:
        return f"{self.help} Without it: {self.default}." if self.metavar else self.help


FAULT_FORMS = (
    "kill:rank=3,at=2s · kill:rank=0,at=allreduce#40 · stop:rank=2,at=1s · "
    "exit:rank=1,at=bcast#3,status=1 · kill:rank=3,replica=1,at=2s · "
    "kill:count=2,seed=7,within=5s · flip:rank=3,message=100,bit=17 · flip:count=50,seed=1 · "
    "flip:rank=3,collective=20,bit=17 · flip:rank=3,where=memory,checkpoint=2,bit=17 · "
    "flip:rank=3,where=process,at=send#9,bit=17"
)

OPTIONS = (
    Option(
        "--bcast",
        "RESPROUT_BCAST",
        "SPEC",
        "a protocol's spec, see `resprout sim --help`",
        "what suits the size of the data",
        "Protocol of MPI_Bcast and MPI_Scatter(v).",
    ),
    Option(
        "--allreduce",
        "RESPROUT_ALLREDUCE",
        "SPEC",
        "a protocol's spec, see `resprout sim --help`",
        "what suits the size of the data",
        "Protocol of MPI_Allreduce, MPI_Reduce, MPI_Barrier, and of gathers, exchanges and scans.",
    ),
    Option(
        "--collectives",
        "RESPROUT_COLLECTIVES",
        "auto|native|resprout|trees",
        "auto, native, resprout, trees",
        "auto",
        "What carries collectives until a loss: the MPI library's own where it is faster, or "
        "wherever it can be interrupted, or never; trees: nor what processes of a host have for "
        "small data (docs/reference/collectives.md).",
    ),
    Option(
        "--calibration",
        "RESPROUT_CALIBRATION",
        "FILE|none",
        "a file of `resprout calibrate` with this machine in it, or none",
        "the one that `resprout calibrate` leaves, if it has this machine in it",
        "What --collectives auto chooses by on this machine (docs/how-to/calibrate.md).",
        reaches_ranks=False,
    ),
    Option(
        "--replicas",
        "RESPROUT_REPLICAS",
        "1|2|3",
        "1, 2 or 3",
        "1",
        "How many processes each rank is. Those with one number form a plane, an MPI job of its "
        "own; the job goes on as long as one plane is whole (docs/how-to/replication.md).",
    ),
    Option(
        "--replica-hosts",
        "RESPROUT_REPLICA_HOSTS",
        "apart|shared",
        "apart, shared",
        "apart",
        "Whether planes may share a host of --hostfile: what cannot be kept apart is refused, or "
        "a line says what it does not protect from.",
        reaches_ranks=False,
    ),
    Option(
        "--on-replica-loss",
        "RESPROUT_ON_REPLICA_LOSS",
        "end-plane|stand-in",
        "end-plane, stand-in",
        "end-plane",
        "What follows when a plane loses a rank: it ends, and the others go on; or it goes on "
        "without it, the rank's replicas stand in for it, and the job goes on as long as each rank "
        "has one that lives; with --verify what these say is compared "
        "(docs/how-to/stand-in.md).",
    ),
    Option(
        "--verify",
        "RESPROUT_VERIFY",
        "METHOD",
        "none, all-to-all, msg-plus-hash, async, async-hash",
        "none",
        "How replicas compare what ranks send to each other and what collectives get and give: "
        "before the program may have it (all-to-all, msg-plus-hash), or while it goes on (async, "
        "async-hash); by copies or by digests (docs/how-to/corruption.md).",
    ),
    Option(
        "--clocks",
        "RESPROUT_CLOCKS",
        "decided|own",
        "decided, own",
        "decided",
        "Whether replicas that are compared, or stand in, read the system's clocks alike: what the "
        "main thread of one reads all others read, too (docs/reference/decided.md).",
    ),
    Option(
        "--system",
        "RESPROUT_SYSTEM",
        "decided|own",
        "decided, own",
        "decided",
        "Whether replicas that are compared, or stand in, get the same random numbers, process "
        "ids, host names and addresses from the system (docs/reference/decided.md).",
    ),
    Option(
        "--on-corruption",
        "RESPROUT_ON_CORRUPTION",
        "abort|report",
        "abort, report",
        "abort",
        "What follows when replicas differ and nobody can tell which is right: the job ends with "
        "status 4, or goes on and the report says it.",
    ),
    Option(
        "--on-unverified",
        "RESPROUT_ON_UNVERIFIED",
        "go-on|wait|abort",
        "go-on, wait, abort",
        "go-on",
        "What follows, with --verify, when losses leave a rank one replica, so that nothing it "
        "says is compared any more: the job goes on; or it waits at its next resprout_checkpoint "
        "for a plane that comes back, and ends with status 6 if none does; or it ends with status "
        "6. A line on stderr says it in any case (docs/how-to/corruption.md).",
        reaches_ranks=False,
    ),
    Option(
        "--commit-output",
        "RESPROUT_COMMIT_OUTPUT",
        "first|voted",
        "first, voted",
        "first",
        "Which lines of stdout are shown, with replicas: those of the first plane that is left; "
        "or, with --verify, each when a majority of its replicas has said the same "
        "(docs/how-to/corruption.md).",
        reaches_ranks=False,
    ),
    Option(
        "--shadow-lag",
        "RESPROUT_SHADOW_LAG",
        "BYTES|MESSAGES|none",
        "messages, 2 or more, as 10000; bytes, 64KiB or more, as 64MiB or 1GiB; or none",
        "256MiB",
        "How far a process may be ahead of its slowest replica with --verify async or async-hash: "
        "in messages that it has sent and received, or in bytes of memory that they take until "
        "they are verified. It waits where it would be further (docs/how-to/stragglers.md).",
    ),
    Option(
        "--straggler-wait",
        "RESPROUT_STRAGGLER_WAIT",
        "SECONDS|none",
        "seconds from 0 on, as 30 or 0.5, or none",
        "30",
        "How long at least a process of a job with --replicas may stand still while its replicas "
        "go on, before it is ended; how long two of three planes that are at their end and agree "
        "wait for the third, with --verify async or async-hash, and a plane at its checkpoint for "
        "one that has to go back, or all planes for each other (docs/how-to/stragglers.md).",
        reaches_ranks=False,
    ),
    Option(
        "--call-timeout",
        "RESPROUT_CALL_TIMEOUT",
        "SECONDS|none",
        "seconds from 1 on, as 30 or 2.5, or none",
        "none",
        "After how many seconds in one call of MPI it is said who waits there, and which ranks "
        "that live have not come to it (docs/how-to/hang.md).",
    ),
    Option(
        "--on-call-timeout",
        "RESPROUT_ON_CALL_TIMEOUT",
        "report|end|abort",
        "report, end, abort",
        "report",
        "With --call-timeout: only say so, end the ranks outside of MPI that all others of a "
        "collective wait for, or end the job with status 76.",
        reaches_ranks=False,
    ),
    Option(
        "--on-loss",
        "RESPROUT_ON_LOSS",
        "continue|error|restart",
        "continue, error, restart",
        "continue",
        "What a call does that a loss touched: go on among the survivors, or return "
        "MPIX_ERR_PROC_FAILED through the program's error handler. restart: all ranks end, and the "
        "job starts again within its allocation (docs/how-to/restart.md).",
    ),
    Option(
        "--max-restarts",
        "RESPROUT_MAX_RESTARTS",
        "N",
        "a whole number from 0 to 1000000",
        "10",
        "How often --on-loss restart starts a job again.",
        reaches_ranks=False,
    ),
    Option(
        "--restart-command",
        "RESPROUT_RESTART_COMMAND",
        "COMMAND",
        "a program and its arguments, quoted as in a shell: './app --resume'",
        "the same program",
        "What --on-loss restart starts instead of the program when it starts the job again.",
        reaches_ranks=False,
    ),
    Option(
        "--short-life",
        "RESPROUT_SHORT_LIFE",
        "SECONDS",
        "seconds from 0 on, as 20 or 0.5",
        "20",
        "With --on-loss restart: a start of the job that a loss ends sooner was short, and three "
        "short ones in a row end the job. 0: none is short.",
        reaches_ranks=False,
    ),
    Option(
        "--spares",
        "RESPROUT_SPARES",
        "SLOTS",
        "a whole number of slots of --hostfile",
        "0",
        "With --on-loss restart: so many slots have to be free at first, for the ranks of hosts "
        "that are lost.",
        reaches_ranks=False,
    ),
    Option(
        "--spare-hosts",
        "RESPROUT_SPARE_HOSTS",
        "HOSTS",
        "a whole number of hosts of --hostfile",
        "0",
        "With --on-loss restart: the last hosts of the file do nothing at first, and come into the "
        "places of hosts that are lost.",
        reaches_ranks=False,
    ),
    Option(
        "--standby",
        "RESPROUT_STANDBY",
        "",
        "0, 1",
        "0",
        "With --on-loss restart: as many processes as there are ranks wait at the end of MPI_Init, "
        "and go on at once when the job has lost a rank (docs/how-to/standby.md).",
    ),
    Option(
        "--checkpoint-code",
        "RESPROUT_CHECKPOINT_CODE",
        "copy|xor:RANKS",
        "copy, or xor: and a number of ranks from 2 to 16",
        "copy",
        "With --on-loss restart: what other hosts keep of a checkpoint in memory. A copy of each "
        "rank's part; or, in groups of so many ranks, an XOR from which the part of one rank of a "
        "group is made again (docs/how-to/checkpoints.md).",
    ),
    Option(
        "--checkpoint-dir",
        "RESPROUT_CHECKPOINT_DIR",
        "FOLDER",
        "a folder that all hosts share, without checkpoints",
        "no files are written",
        "With --on-loss restart: where checkpoints of resprout_checkpoint go, too, for losses that "
        "those in memory do not bear, and for later jobs (docs/how-to/checkpoints.md).",
    ),
    Option(
        "--files-every",
        "RESPROUT_FILES_EVERY",
        "N",
        "a whole number from 1 to 1000000",
        "10",
        "With --checkpoint-dir: one of so many checkpoints is written to files.",
    ),
    Option(
        "--resume",
        "RESPROUT_RESUME",
        "FOLDER",
        "the --checkpoint-dir of an earlier job with as many ranks",
        "the program begins at its beginning",
        "With --on-loss restart: the first resprout_checkpoint puts back the newest checkpoint of "
        "this folder that is whole, and later ones are written there, too.",
    ),
    Option(
        "--on-unanswered",
        "RESPROUT_ON_UNANSWERED",
        "handler|ignore|abort",
        "handler, ignore, abort",
        "handler",
        "What follows when a call needs data that only lost ranks had, as a receive from the dead: "
        "MPI's own rule, the communicator's error handler, which by default ends the job with "
        "status 75; or only handlers that the program has installed are called, and others go on "
        "with MPIX_ERR_PROC_FAILED and old data; or the job ends in any case "
        "(docs/how-to/lost-data.md).",
    ),
    Option(
        "--inject",
        "RESPROUT_INJECT",
        "FAULT",
        FAULT_FORMS,
        "none",
        "A fault on purpose, as often as you like. at= is a time after MPI_Init, or the entry "
        "of a rank's n-th call; times end in s, ms or us. flip: a bit of the n-th message that a "
        "rank sends, of what it gives to its n-th collective, or of what it protects, after its "
        "n-th checkpoint. In the variable: with ; in between.",
    ),
    Option(
        "--sum",
        "RESPROUT_SUM",
        "any|reproducible",
        "any, reproducible",
        "any: whatever is fastest",
        "How floating-point numbers are summed. reproducible: the same bits for the same "
        "contributors, whatever the tree, the order of arrival and the losses "
        "(docs/how-to/sum.md).",
    ),
    Option(
        "--missing",
        "RESPROUT_MISSING",
        "nothing|last|mean|linear|VALUE",
        "nothing, last, mean, linear, or a number",
        "nothing",
        "What stands in for the contributions of lost ranks to reductions, scans and gathers: "
        "nothing, their last ones, what the last eight lead to expect, or elements of this value "
        "(docs/how-to/lost-data.md says what it costs).",
    ),
    Option(
        "--transport",
        "RESPROUT_TRANSPORT",
        "auto|shm|tcp",
        "auto, shm, tcp",
        "auto: shared memory inside a host, TCP between hosts",
        "What carries the collectives. Processes are on one host if they may share memory.",
    ),
    Option(
        "--network",
        "RESPROUT_NETWORK",
        "NETWORK",
        "a network as 10.0.0.0/8",
        "the first address that others can reach",
        "Where to listen if there are several hosts.",
    ),
    Option(
        "--heartbeat-period",
        "RESPROUT_HEARTBEAT_PERIOD_MS",
        "MS",
        "whole milliseconds, 1 to 3600000",
        "100",
        "How often neighbors tell each other that they live, in ms.",
    ),
    Option(
        "--heartbeat-timeout",
        "RESPROUT_HEARTBEAT_TIMEOUT_MS",
        "MS",
        "whole milliseconds, more than the period",
        "1000",
        "How long a neighbor may be silent before it counts as hung, in ms.",
    ),
    Option(
        "--radix",
        "RESPROUT_RADIX",
        "N",
        "a power of two from 2 to 1024",
        "4",
        "Children in the tree of the views that the ranks agree on after losses "
        "(docs/explanation/protocols/membership.md).",
    ),
    Option(
        "--order",
        "RESPROUT_ORDER",
        "FILE",
        "a file with a line HOST [GROUP] for each host",
        "hosts in the order of their lowest ranks",
        "Which hosts stand where in this tree, and together: those of a GROUP, as a rack. The "
        "launcher reads it (docs/how-to/hosts.md).",
    ),
    Option(
        "--verbose",
        "RESPROUT_VERBOSE",
        "",
        "0, 1",
        "0",
        "Say what is started and set, and report at the end even if nothing was lost: "
        "--log-level info.",
    ),
    Option(
        "--log-level",
        "RESPROUT_LOG_LEVEL",
        "LEVEL",
        "error, warning, info, debug",
        "warning",
        "Which lines of the launcher appear on stderr: errors only; losses and warnings, too; what "
        "is started and set, too; the launcher's whole command line, too (docs/how-to/operate.md).",
        reaches_ranks=False,
    ),
    Option(
        "--metrics",
        "RESPROUT_METRICS",
        "FILE",
        "a file's name",
        "no file",
        "Write figures of the job to this file while it runs, as OpenMetrics "
        "(docs/how-to/operate.md).",
        reaches_ranks=False,
    ),
    Option(
        "--config",
        "RESPROUT_CONFIG",
        "FILE.toml",
        "a file of TOML",
        "`resprout.toml` in the working directory, if it is there",
        "Options from a file. The command line and variables go before it "
        "(docs/how-to/configure.md).",
        reaches_ranks=False,
    ),
    Option(
        "--run-dir",
        "RESPROUT_RUN_DIR",
        "DIR",
        "a folder that all hosts share",
        "the folder for temporary files",
        "Where the ranks leave their parts of the report, in a folder that is removed at the end.",
    ),
    Option(
        "--report",
        "RESPROUT_REPORT",
        "FILE.json",
        "a file's name",
        "no file",
        "Write the report to this file too, as JSON (docs/reference/report.md).",
        reaches_ranks=False,
    ),
    Option(
        "--strict",
        "RESPROUT_STRICT",
        "",
        "0, 1",
        "0",
        "Exit with status 3 if a rank was lost, or something that --verify asks for was not "
        "verified.",
        reaches_ranks=False,
    ),
    Option(
        "--mpi",
        "RESPROUT_MPI",
        "PREFIX",
        "a folder with bin/mpirun",
        "the MPI of $MPICC, else the one beside this command, else the one in the PATH",
        "Where the MPI is installed.",
        reaches_ranks=False,
    ),
    Option(
        "--mpirun-arg",
        "RESPROUT_MPIRUN_ARGS",
        "ARG",
        "arguments of your mpirun",
        "none",
        "An argument for mpirun, as it is; as often as you like. In the variable: with blanks.",
        reaches_ranks=False,
    ),
)

# Where checkpoints are kept in memory.
CHECKPOINT_MEMORY = "RESPROUT_CHECKPOINT_MEMORY"
# What ranks find in their environment, and nobody sets.
OF_A_RANK = (CHECKPOINT_MEMORY, "RESPROUT_REPLICA", "RESPROUT_RESTART")
BY_FLAG = {option.flag: option for option in OPTIONS}


def check_environment(environment: Mapping[str, str]) -> None:
    """Refuse variables that look like ours but are not: most probably they are misspelled."""
    known = [option.variable for option in OPTIONS]
    for name in environment:
        if name.startswith(PREFIX) and name not in known and name not in OF_A_RANK:
            words = [variable.removeprefix(PREFIX) for variable in known]
            close = difflib.get_close_matches(name.removeprefix(PREFIX), words, n=1)
            advice = (
                f"did you mean {PREFIX}{close[0]}?" if close else f"there are {', '.join(known)}"
            )
            raise UserError(f"{name} in the environment is no option of Resprout; {advice}")


def check_value(flag: str, value: str) -> str:
    """The value, if the option can have it."""
    if not CHECKS[flag](value):
        raise UserError(f"{flag}: {value!r} is not valid; give {BY_FLAG[flag].valid}")
    return value


def markdown_table() -> str:
    """The table of docs/reference/environment.md."""
    rows = ["| variable | option of `resprout run` | valid | without it | what it does |"]
    rows.append("|---|---|---|---|---|")
    for option in OPTIONS:
        where = "" if option.reaches_ranks else " Only the launcher reads it."
        cells = (
            f"`{option.variable}`",
            f"`{option.flag}`",
            option.valid,
            option.default,
            option.help + where,
        )
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
