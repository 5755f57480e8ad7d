/* Inter-communicators that were made before a loss, and what is made of them.
 *
 *   groups_lose CALL [ROUNDS]
 *
 * Ranks with even and with odd numbers have an inter-communicator, of which CALL makes another one,
 * so often or until that fails: merge, dup, split, create, shrink, or free, which ends one of its
 * own; "agree" and "revoke" make none, and "pair" makes the inter-communicator itself again. Each
 * rank says "rank N: ROUND CLASS SUM" of the last round, with the sum of what all in the new one
 * give: their numbers, from 1. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm half, inter;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int pair(MPI_Comm* made) {
  return MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, made);
}

/* Else the other group waits for somebody that this one does not have. */
static int has_leader(void) {
  MPI_Group all, own;
  int leader = rank % 2, place;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(half, &own);
  MPI_Group_translate_ranks(all, 1, &leader, own, &place);
  MPI_Group_free(&own);
  MPI_Group_free(&all);
  return place != MPI_UNDEFINED;
}

static int of_half(MPI_Comm* made) {
  MPI_Group all, chosen;
  MPI_Comm_group(inter, &all);
  const int first = 0;
  MPI_Group_incl(all, 1, &first, &chosen);
  const int code = MPI_Comm_create(inter, chosen, made);
  MPI_Group_free(&chosen);
  MPI_Group_free(&all);
  return code;
}

static int freed(MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  MPI_Comm one;
  const int code = MPI_Comm_dup(inter, &one);
  return code == MPI_SUCCESS ? MPI_Comm_free(&one) : code;
}

/* All of a group say the same. */
static int agreed(MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  int flag = rank % 2 == 0 ? 6 : 3;
  const int code = MPIX_Comm_agree(inter, &flag);
  check(flag == (rank % 2 == 0 ? 3 : 6), "what the other group says");
  return code;
}

static int revoked(MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  if (rank == 0) MPIX_Comm_revoke(inter);
  int got;
  /* Nobody sends that. */
  return MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 99, inter, MPI_STATUS_IGNORE);
}

static int make(const char* call, MPI_Comm* made) {
  if (strcmp(call, "merge") == 0) return MPI_Intercomm_merge(inter, rank % 2 == 0, made);
  if (strcmp(call, "dup") == 0) return MPI_Comm_dup(inter, made);
  if (strcmp(call, "split") == 0) return MPI_Comm_split(inter, rank / 2 % 2, -rank, made);
  if (strcmp(call, "create") == 0) return of_half(made);
  if (strcmp(call, "shrink") == 0) return MPIX_Comm_shrink(inter, made);
  if (strcmp(call, "free") == 0) return freed(made);
  if (strcmp(call, "agree") == 0) return agreed(made);
  if (strcmp(call, "revoke") == 0) return revoked(made);
  check(strcmp(call, "pair") == 0, "the name of a call");
  return pair(made);
}

/* Of what all others in it give, if that is an inter-communicator, and of this rank's. */
static int sum_of(MPI_Comm made) {
  int is_inter, given = rank + 1, sum = 0;
  MPI_Comm_test_inter(made, &is_inter);
  MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, made);
  if (!is_inter) return sum;
  int own = 0;
  MPI_Comm merged;
  check(MPI_Intercomm_merge(made, 0, &merged) == MPI_SUCCESS, "a merge of it");
  MPI_Allreduce(&given, &own, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_free(&merged);
  check(sum < own, "a sum of the other group");
  return own;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (!has_leader() || pair(&inter) != MPI_SUCCESS) {
    printf("rank %d: no pair\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  int round, class = MPI_SUCCESS, sum = 0;
  for (round = 0; round < rounds && class == MPI_SUCCESS; ++round) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Error_class(make(argv[1], &made), &class);
    if (class != MPI_SUCCESS || made == MPI_COMM_NULL) continue;
    /* While nobody is lost; else the library's collectives may fail. */
    if (round == rounds - 1) sum = sum_of(made);
    MPI_Comm_free(&made);
  }
  const char* name = class == MPI_SUCCESS            ? "well"
                     : class == MPIX_ERR_PROC_FAILED ? "failed"
                     : class == MPIX_ERR_REVOKED     ? "revoked"
                                                     : "otherwise";
  printf("rank %d: %d %s %d\n", rank, round, name, sum);
  fflush(stdout);
  MPI_Comm_disconnect(&inter);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
