"""Random programs that are wrong, compared with the same under the MPI library alone.

In some one rank calls something else than the others (erroneous.py). In the others all call with
wrong arguments, and misuse handles (misused.py): they have to get the library's errors. Each kind
is built plainly, or with the address sanitizer. Nobody may write beyond a buffer or end by a defect
of ours, nor may the job have status 0 where the library says otherwise. It may hang as
docs/reference/calls.md says. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import sys

import erroneous
import misused
import soak_kinds

if __name__ == "__main__":
    kinds = erroneous.KINDS | misused.KINDS
    what = "end or hang under one of both alone"
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, kinds, 125, what))
