"""libresprout.so can be loaded into any program: it needs little and shows little."""

import re
import subprocess

from sources import BUILD

LIBRARY = BUILD / "lib" / "libresprout.so"
NEEDED = re.compile(r"(libmpi|libc|libm|libpthread|libdl|ld-linux[\w-]*)\.so(\.\d+)*")
# Besides MPI's names and its own: what ends a process, the clocks and other answers of the system
# that replicas get alike or that are named as undecided, and what of the library goes through it.
EXPORTED = re.compile(
    r"P?MPIX?_\w+|mpix?_\w+|resprout_\w+|_[eE]xit|quick_exit"
    r"|clock|clock_(gettime|nanosleep)|getrusage|gettimeofday|time|times|timespec_get|sysinfo|getloadavg"
    r"|_ZNSt13random_device9_M_getvalEv|arc4random(_buf|_uniform)?|getentropy|getrandom"
    r"|getp(g|p)?id|getsid|gettid|[gs]etpriority|setpgid|kill|sigqueue|sched_[gs]etaffinity"
    r"|sched_get(cpu|scheduler)|process_vm_readv|gethostname|uname|pthread_create"
    r"|(f?open|mkstemp)(64)?|openat(64)?|__open(64)?_2|opendir|access|readlink|read|__read_chk"
    r"|mkdtemp|mko?stemps?"
    r"|ompi_comm_(dup|nextcid|revoke_local|request_schedule_append)|mca_coll_base_comm_(un)?select"
    r"|ompi_request_is_failed_fn"
    r"|opal_pointer_array_(test_and_)?set_item"
    r"|ompi_mpi_errors_are_fatal_comm_handler|ompi_rte_abort"
)


def lines(*command: str) -> list[str]:
    done = subprocess.run([*command, str(LIBRARY)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_it_needs_mpi_and_the_c_library_alone():
    needed = [line.split("[")[1].rstrip("]") for line in lines("readelf", "-d") if "NEEDED" in line]
    assert any(name.startswith("libmpi.") for name in needed)
    assert not [name for name in needed if not NEEDED.fullmatch(name)]


def test_it_exports_the_names_of_mpi_and_few_others():
    exported = [line.split()[0] for line in lines("nm", "-D", "--defined-only", "-P")]
    assert {"MPI_Init", "MPI_Init_thread"} <= set(exported)
    assert not [name for name in exported if not EXPORTED.fullmatch(name)]
