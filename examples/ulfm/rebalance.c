// ULFM's second way: shrink, and deal the work anew among those who are left.
//
//   resprout run -n 8 --on-loss error --inject kill:count=2,seed=1,within=1s -- rebalance [TASKS]
//
// The integral of 4 / (1 + x^2) from 0 to 1, which is pi, in tasks that anybody can do. The result
// is the same to the last bit, whoever dies: each task's part is computed in one way only, and they
// are added up in one order.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 20000, tasks_each = 4 };

static double do_task(int task, int tasks) {
  const double width = 1.0 / tasks / steps;
  double sum = 0.0;
  for (int i = 0; i < steps; ++i) {
    const double x = ((double)task * steps + i + 0.5) * width;
    sum += 4.0 / (1.0 + x * x);
  }
  return sum * width;
}

// Some tasks from `first` on, a few for each process. Returns how many are done, by whomsoever; 0:
// it did not go well everywhere.
static int do_batch(MPI_Comm comm, int first, int tasks, double* parts) {
  int rank;
  int size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int count = tasks - first < size * tasks_each ? tasks - first : size * tasks_each;
  for (int i = 0; i < count; ++i)
    parts[first + i] = i % size == rank ? do_task(first + i, tasks) : 0.0;
  int is_well =
      MPI_Allreduce(MPI_IN_PLACE, parts + first, count, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS;
  if (!is_well) MPIX_Comm_revoke(comm);
  MPIX_Comm_agree(comm, &is_well);
  return is_well ? count : 0;
}

static void shrink(MPI_Comm* comm) {
  MPI_Comm shrunken;
  MPIX_Comm_shrink(*comm, &shrunken);
  if (*comm != MPI_COMM_WORLD) MPI_Comm_free(comm);
  *comm = shrunken;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int tasks = argc > 1 ? atoi(argv[1]) : 20000;
  double* parts = calloc((size_t)tasks, sizeof *parts);
  if (tasks < 1 || parts == NULL) MPI_Abort(MPI_COMM_WORLD, 2);

  for (int done = 0; done < tasks;) {
    const int more = do_batch(comm, done, tasks, parts);
    done += more;
    if (more == 0) shrink(&comm);
  }

  double pi = 0.0;
  for (int i = 0; i < tasks; ++i) pi += parts[i];
  int rank;
  int size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) printf("pi is %.15f (%a), %d processes left\n", pi, pi, size);
  free(parts);
  MPI_Finalize();
  return 0;
}
