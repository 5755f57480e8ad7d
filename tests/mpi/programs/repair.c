/* The loop of a program that repairs its communicator itself: rounds of point-to-point messages and
 * collectives; whoever meets an error revokes. All agree after every ten whether these went well;
 * if not, they shrink and do them again.
 *
 *   repair [ROUNDS]      to be run with --on-loss error
 *
 * Every sum must be that of the communicator's members, and every message that of its round. At the
 * end the first one left says how many are left.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm comm;
static int rank, size, world_rank;

static void fail(const char* what, long got, long due) {
  fprintf(stderr, "WRONG: rank %d: %s: %ld instead of %ld\n", world_rank, what, got, due);
  fflush(stderr);
  _exit(1);
}

static void look_at(MPI_Comm now) {
  comm = now;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

/* A neighbor may have gone on with another communicator, or be dead: then this fails. Sends wait:
 * Open MPI 5.0 ends a process whose MPI_Isend the receiver did not live to see. */
static int do_round(int round) {
  long there[64], here[64], sum = 0, one = 1;
  int code, right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < 64; ++i) there[i] = round * 1000L + rank;
  code = MPI_Sendrecv(there, 64, MPI_LONG, right, round % 100, here, 64, MPI_LONG, left,
                      round % 100, comm, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  if (here[63] != round * 1000L + left) fail("message", here[63], round * 1000L + left);
  if ((code = MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm)) != MPI_SUCCESS) return code;
  if (sum != size) fail("sum", sum, size);
  sum = rank == round % size ? round : -1;
  if ((code = MPI_Bcast(&sum, 1, MPI_LONG, round % size, comm)) != MPI_SUCCESS) return code;
  if (sum != round) fail("broadcast", sum, round);
  return MPI_Barrier(comm);
}

static void repair(void) {
  MPI_Comm shrunken;
  int code = MPIX_Comm_shrink(comm, &shrunken);
  if (code != MPI_SUCCESS) fail("shrink", code, MPI_SUCCESS);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  look_at(shrunken);
}

/* Up to ten rounds; 0: not all of them went well everywhere. */
static int do_block(int first, int rounds) {
  int is_well = 1;
  for (int round = first; is_well && round < first + 10 && round < rounds; ++round)
    is_well = do_round(round) == MPI_SUCCESS;
  if (!is_well) MPIX_Comm_revoke(comm);
  MPIX_Comm_agree(comm, &is_well); /* fails if somebody has failed, but the flag counts */
  return is_well;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 2000, repairs = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  look_at(MPI_COMM_WORLD);
  for (int round = 0; round < rounds;) {
    if (do_block(round, rounds)) {
      round += 10;
    } else {
      repair();
      ++repairs;
    }
  }
  if (rank == 0) printf("%d are left after %d repairs\n", size, repairs);
  MPI_Finalize();
  return 0;
}
