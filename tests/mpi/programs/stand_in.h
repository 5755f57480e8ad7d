/* What the programs in which siblings stand in share: a number that follows from all that a rank
   has received, and collectives that it goes into. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks_max = 16 };

static unsigned long state;
static int rank, size;

static void mix(unsigned long value) { state = state * 6364136223846793005ul + value + 1; }

static void mix_all(const int* values, int count) {
  for (int i = 0; i < count; ++i) mix((unsigned long)values[i]);
}

static int part(int step, int i) { return (int)((state >> 33) % 100000) + step * 7 + i; }

static void collectives(int step, MPI_Comm comm) {
  int own, all;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  const int root = step % all;
  int some[4], many[4 * ranks_max];
  for (int i = 0; i < 4; ++i) some[i] = own == root ? part(step, i) : 0;
  MPI_Bcast(some, 4, MPI_INT, root, comm);
  mix_all(some, 4);

  double sum = 0, mine = 1.0 / (1 + part(step, own));
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  unsigned long bits;
  memcpy(&bits, &sum, sizeof bits);
  mix(bits);

  int least = part(step, 5 + own), least_of_all = 0;
  MPI_Reduce(&least, &least_of_all, 1, MPI_INT, MPI_MIN, root, comm);
  if (own == root) mix_all(&least_of_all, 1);

  for (int i = 0; i < 2; ++i) some[i] = part(step, i);
  MPI_Gather(some, 2, MPI_INT, many, 2, MPI_INT, root, comm);
  if (own == root) mix_all(many, 2 * all);
  MPI_Allgather(some, 2, MPI_INT, many, 2, MPI_INT, comm);
  mix_all(many, 2 * all);

  int pieces[4 * ranks_max];
  for (int i = 0; i < 2 * all; ++i) pieces[i] = part(step, i);
  MPI_Scatter(pieces, 2, MPI_INT, some, 2, MPI_INT, root, comm);
  mix_all(some, 2);
  MPI_Alltoall(pieces, 2, MPI_INT, many, 2, MPI_INT, comm);
  mix_all(many, 2 * all);

  int prefix = part(step, own), below = 0;
  MPI_Scan(MPI_IN_PLACE, &prefix, 1, MPI_INT, MPI_BXOR, comm);
  mix_all(&prefix, 1);
  MPI_Exscan(&prefix, &below, 1, MPI_INT, MPI_BXOR, comm);
  if (own > 0) mix_all(&below, 1);
  int piece = 0;
  MPI_Reduce_scatter_block(pieces, &piece, 1, MPI_INT, MPI_MAX, comm);
  mix_all(&piece, 1);
  MPI_Barrier(comm);
}

/* "rank R has X"; and X into a file in `folder` that has the numbers of its replica and its rank.
 */
static void say(const char* folder) {
  printf("rank %d has %lx\n", rank, state);
  if (folder == NULL) return;
  char name[1000];
  const char* replica = getenv("RESPROUT_REPLICA");
  snprintf(name, sizeof name, "%s/%s-%d", folder, replica != NULL ? replica : "0", rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%lx", state);
  fclose(file);
}
