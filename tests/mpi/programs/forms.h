/* The blocking collectives of a program as their non-blocking forms, or with FORM_PERSISTENT as
 * their persistent ones, each waited for at once: MPI_Bcast is MPI_Ibcast, or MPI_Bcast_init and
 * MPI_Start, and one of the calls that wait or test.
 *
 * With FORM_COMM others are under way on that communicator meanwhile, begun before and ended in any
 * order. Include it before the program's own text.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { form_requests_max = 3 };
static uint64_t form_dice;
static int form_count; /* requests under way; the last one is that of the program's collective */
static MPI_Request form_requests[form_requests_max];
static int64_t form_ones[2] = {1, 1}, form_sums[2];

static inline int form_below(int limit) {
  if (form_dice == 0) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    form_dice = 88172645463325252u + (uint64_t)rank;
  }
  form_dice ^= form_dice << 13;
  form_dice ^= form_dice >> 7;
  form_dice ^= form_dice << 17;
  return (int)(form_dice % (uint64_t)limit);
}

static inline void form_check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: %s\n", what);
  exit(1);
}

static inline MPI_Request* form_new(void) {
  form_requests[form_count] = MPI_REQUEST_NULL;
  return &form_requests[form_count++];
}

/* A barrier and a sum, which have nothing to do with what the program does. */
static inline void form_begin(MPI_Comm comm) {
  form_count = 0;
  if (comm == MPI_COMM_NULL) return;
  form_sums[0] = form_sums[1] = 0;
  form_check(MPI_Ibarrier(comm, form_new()) == MPI_SUCCESS, "a barrier begins");
  form_check(MPI_Iallreduce(form_ones, form_sums, 2, MPI_INT64_T, MPI_SUM, comm, form_new()) ==
                 MPI_SUCCESS,
             "a sum begins");
}

/* Waits for all of them, one way or the other; what the last one's end was. */
static inline int form_wait_somehow(void) {
  MPI_Status statuses[form_requests_max];
  int codes[form_requests_max] = {MPI_SUCCESS}, indices[form_requests_max];
  int how = form_below(8), code = MPI_SUCCESS, flag = 0, index, left = form_count, done;
  for (int i = 0; i < form_count; ++i) codes[i] = MPI_SUCCESS;
  if (how == 0 || how == 1) /* all at once */
    while (!flag) {
      flag = how == 0;
      code = how == 0 ? MPI_Waitall(form_count, form_requests, statuses)
                      : MPI_Testall(form_count, form_requests, &flag, statuses);
      for (int i = 0; code == MPI_ERR_IN_STATUS && i < form_count; ++i)
        codes[i] = statuses[i].MPI_ERROR;
    }
  else if (how == 2 || how == 3) /* one at a time, whichever is over */
    while (left > 0) {
      flag = 1;
      code = how == 2 ? MPI_Waitany(form_count, form_requests, &index, MPI_STATUS_IGNORE)
                      : MPI_Testany(form_count, form_requests, &index, &flag, MPI_STATUS_IGNORE);
      if (!flag) continue;
      codes[index] = code;
      --left;
    }
  else if (how == 4 || how == 5) /* as many as there are */
    while (left > 0) {
      code = how == 4 ? MPI_Waitsome(form_count, form_requests, &done, indices, statuses)
                      : MPI_Testsome(form_count, form_requests, &done, indices, statuses);
      for (int k = 0; k < done; ++k)
        codes[indices[k]] = code == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : MPI_SUCCESS;
      left -= done;
    }
  else /* each in turn, from the end or from a random one */
    for (int i = 0, first = how == 6 ? form_count - 1 : form_below(form_count); i < form_count;
         ++i) {
      index = (first + form_count - i) % form_count;
      while (how == 7 && !flag)
        MPI_Request_get_status(form_requests[index], &flag, MPI_STATUS_IGNORE);
      codes[index] = MPI_Wait(&form_requests[index], MPI_STATUS_IGNORE);
      flag = 0;
    }
  for (int i = 0; i < form_count - 1; ++i) form_check(codes[i] == MPI_SUCCESS, "the others end");
  return codes[form_count - 1];
}

/* `code`: how the program's collective began. */
static inline int form_end(int code) {
  form_check(code == MPI_SUCCESS, "a collective begins");
#ifdef FORM_PERSISTENT
  MPI_Request* last = &form_requests[form_count - 1];
  MPI_Request handle = *last;
  MPI_Wait(last, MPI_STATUS_IGNORE); /* not started: there is nothing to wait for */
  form_check(*last == handle && MPI_Start(last) == MPI_SUCCESS, "a collective starts");
#endif
  code = form_wait_somehow();
#ifdef FORM_PERSISTENT
  form_check(*last == handle && MPI_Request_free(last) == MPI_SUCCESS, "a request stays");
#endif
  if (form_count > 1)
    form_check(form_sums[0] >= 1 && form_sums[0] == form_sums[1], "a sum is that of the living");
  return code;
}

#ifndef FORM_COMM
#  define FORM_COMM MPI_COMM_NULL
#endif
#ifdef FORM_PERSISTENT
#  define FORM(name, init, ...) \
    (form_begin(FORM_COMM), form_end(init(__VA_ARGS__, MPI_INFO_NULL, form_new())))
#else
#  define FORM(name, init, ...) (form_begin(FORM_COMM), form_end(name(__VA_ARGS__, form_new())))
#endif
#define MPI_Allreduce(...) FORM(MPI_Iallreduce, MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Barrier(...) FORM(MPI_Ibarrier, MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...) FORM(MPI_Ibcast, MPI_Bcast_init, __VA_ARGS__)
#define MPI_Reduce(...) FORM(MPI_Ireduce, MPI_Reduce_init, __VA_ARGS__)
#define MPI_Allgather(...) FORM(MPI_Iallgather, MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgatherv(...) FORM(MPI_Iallgatherv, MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Alltoall(...) FORM(MPI_Ialltoall, MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoallv(...) FORM(MPI_Ialltoallv, MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallw(...) FORM(MPI_Ialltoallw, MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Exscan(...) FORM(MPI_Iexscan, MPI_Exscan_init, __VA_ARGS__)
#define MPI_Gather(...) FORM(MPI_Igather, MPI_Gather_init, __VA_ARGS__)
#define MPI_Gatherv(...) FORM(MPI_Igatherv, MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Reduce_scatter(...) FORM(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
  FORM(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define MPI_Scan(...) FORM(MPI_Iscan, MPI_Scan_init, __VA_ARGS__)
#define MPI_Scatter(...) FORM(MPI_Iscatter, MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatterv(...) FORM(MPI_Iscatterv, MPI_Scatterv_init, __VA_ARGS__)
