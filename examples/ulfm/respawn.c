// ULFM's fourth way: start others in the place of the lost, under their ranks.
//
//   resprout run -n 8 --on-loss error --inject kill:count=2,seed=1,within=1s -- respawn [STEPS]
//
// A ring of numbers: in each step everybody adds its left neighbor's to its own. After a loss those
// who are left shrink, spawn as many as are missing, merge with them, and put all in the old order;
// the new ones get the numbers that the lost had at the last checkpoint, of which everybody keeps
// its right neighbor's, too. If neighbors die at once, the program ends and says so.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { tag_rank = 1, steps_between_checkpoints = 50 };

typedef struct {
  int64_t step;
  uint64_t own, neighbors;  // the right neighbor's
} Checkpoint;

static char** words;  // of the command line

// The rank that each process is to have; who was spawned asks the leader of those who spawned it.
static int tell_old_ranks(MPI_Comm before, MPI_Comm living, MPI_Comm between, int missing) {
  int leads;
  MPI_Comm_rank(living, &leads);
  if (leads != 0) return MPI_SUCCESS;
  MPI_Group all, left, lost;
  MPI_Comm_group(before, &all);
  MPI_Comm_group(living, &left);
  MPI_Group_difference(all, left, &lost);
  int code = MPI_SUCCESS;
  for (int i = 0; i < missing && code == MPI_SUCCESS; ++i) {
    int rank;
    MPI_Group_translate_ranks(lost, 1, &i, all, &rank);
    code = MPI_Send(&rank, 1, MPI_INT, i, tag_rank, between);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&left);
  MPI_Group_free(&lost);
  return code;
}

// One communicator of both sides, in which everybody has the rank `rank`; false: somebody died.
static int join(MPI_Comm* between, int is_new, int rank, MPI_Comm* comm) {
  MPI_Comm merged = MPI_COMM_NULL, ordered = MPI_COMM_NULL;
  int is_well = MPI_Intercomm_merge(*between, is_new, &merged) == MPI_SUCCESS;
  MPIX_Comm_agree(*between, &is_well);
  MPI_Comm_free(between);  // Open MPI 5 loses messages if this comes after the split
  if (is_well) {
    MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
    is_well = MPI_Comm_split(merged, 0, rank, &ordered) == MPI_SUCCESS;
    MPIX_Comm_agree(merged, &is_well);
  }
  if (merged != MPI_COMM_NULL) MPI_Comm_free(&merged);
  if (is_well) *comm = ordered;
  return is_well;
}

static void repair(MPI_Comm* comm) {
  int rank, size, living_size, is_whole = 0;
  MPI_Comm_rank(*comm, &rank);
  MPI_Comm_size(*comm, &size);
  while (!is_whole) {
    MPI_Comm living, between = MPI_COMM_NULL;
    MPIX_Comm_shrink(*comm, &living);
    MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    MPI_Comm_size(living, &living_size);
    const int missing = size - living_size;
    int is_well = MPI_Comm_spawn(words[0], &words[1], missing, MPI_INFO_NULL, 0, living, &between,
                                 MPI_ERRCODES_IGNORE) == MPI_SUCCESS;
    MPIX_Comm_agree(living, &is_well);
    if (is_well) {
      MPI_Comm before = *comm;
      is_well = tell_old_ranks(before, living, between, missing) == MPI_SUCCESS;
      is_whole = join(&between, 0, rank, comm) && is_well;
      if (is_whole && before != MPI_COMM_WORLD) MPI_Comm_free(&before);
    }
    MPI_Comm_free(&living);
  }
  MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
}

// Everybody goes back to the last checkpoint; who has none gets its own from its left neighbor,
// and everybody its right neighbor's.
static int go_back(MPI_Comm comm, int has_one, Checkpoint* checkpoint) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int64_t step = has_one ? checkpoint->step : 0;
  int code = MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_INT64_T, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  const uint64_t mine[2] = {(uint64_t)has_one, checkpoint->neighbors};
  uint64_t kept[2] = {0, 0};
  code = MPI_Sendrecv(mine, 2, MPI_UINT64_T, right, 2, kept, 2, MPI_UINT64_T, left, 2, comm,
                      MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  if (!has_one && !kept[0]) {
    fprintf(stderr, "the checkpoint of rank %d was lost with both who had it\n", rank);
    MPI_Abort(comm, EXIT_FAILURE);
  }
  if (!has_one) checkpoint->own = kept[1];
  checkpoint->step = step;
  return MPI_Sendrecv(&checkpoint->own, 1, MPI_UINT64_T, left, 3, &checkpoint->neighbors, 1,
                      MPI_UINT64_T, right, 3, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  words = argv;
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 2000;
  int rank, size, is_well = 1, has_checkpoint = 0;
  MPI_Comm comm = MPI_COMM_WORLD, parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    if (MPI_Recv(&rank, 1, MPI_INT, 0, tag_rank, parent, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        !join(&parent, 1, rank, &comm))
      exit(EXIT_SUCCESS);  // those who are left start others
    is_well = 0;
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Checkpoint checkpoint = {0, (uint64_t)rank, (uint64_t)((rank + 1) % size)};
  if (is_well) has_checkpoint = 1;
  uint64_t own = checkpoint.own;
  int64_t step = 0;

  while (step < steps || !is_well) {
    if (!is_well) {
      is_well = go_back(comm, has_checkpoint, &checkpoint) == MPI_SUCCESS;
      own = checkpoint.own;
      step = checkpoint.step;
    }
    uint64_t lefts = 0, rights = 0;
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; is_well && i < steps_between_checkpoints && step < steps; ++i, ++step) {
      is_well = MPI_Sendrecv(&own, 1, MPI_UINT64_T, right, 0, &lefts, 1, MPI_UINT64_T, left, 0,
                             comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
      own = own * 5 + (lefts >> 3) + (uint64_t)rank;
    }
    is_well = is_well && MPI_Sendrecv(&own, 1, MPI_UINT64_T, left, 1, &rights, 1, MPI_UINT64_T,
                                      right, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (!is_well) MPIX_Comm_revoke(comm);
    MPIX_Comm_agree(comm, &is_well);  // the same everywhere: the checkpoint counts, or it does not
    if (is_well) {
      checkpoint = (Checkpoint){step, own, rights};
      has_checkpoint = 1;
    } else {
      repair(&comm);
    }
  }

  uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  if (rank == 0) printf("the sum is %016llx: %d processes\n", (unsigned long long)sum, size);
  MPI_Finalize();
  return 0;
}
