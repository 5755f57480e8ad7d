"""Makes the rest of mpifh.c's library: `stubs.py FORMS OUTPUT`.

All that Resprout stands in for has to be there when programs are linked, as it is in Open MPI's
library. Whoever reaches one of these at run time is not interposed, and says so.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src/mpi/operations/fortran"))
import generate

HEAD = """\
#include <stdio.h>
#include <stdlib.h>

static void reached(const char* name) {
  fprintf(stderr, "%s is not Resprout's\\n", name);
  _Exit(1);
}
"""


def main() -> None:
    lines = [HEAD]
    for form in generate.read_forms(Path(sys.argv[1])):
        for name in (f"{form.name.lower()}_", f"{form.name.lower()}_f08_"):
            lines.append(f'__attribute__((weak)) void {name}(void) {{ reached("{name}"); }}')
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n")


main()
