"""Random programs that are wrong, compared with the same under the MPI library alone.

Each kind is built plainly, or with the address sanitizer. Nobody may write beyond a buffer or end
by a defect of ours, nor may the job have status 0 where the library says otherwise. It may hang as
docs/reference/calls.md says. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import sys

import erroneous
import soak_kinds

if __name__ == "__main__":
    what = "hang that end under the library"
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, erroneous.KINDS, 100, what))
