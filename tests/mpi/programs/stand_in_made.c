/* Communicators that are made, used and freed over and over, while siblings stand in for lost
   ranks. Who is in one, and in which order, follows from what each rank has received before.

   stand_in_made STEPS [FOLDER]: each rank prints "rank R has X", and writes X into a file there
   that has the numbers of its replica and its rank. */
#include "stand_in.h"

enum { kinds = 10, places = 4 };

/* What is in one place has the same number of steps behind it at all its members. */
static MPI_Comm kept[places];

/* All but one, the last one first. */
static MPI_Group most_of_the_world(int step) {
  MPI_Group all, most;
  int ranks[ranks_max], count = 0;
  for (int i = size; i-- > 0;)
    if (size == 1 || i != step % size) ranks[count++] = i;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, count, ranks, &most);
  MPI_Group_free(&all);
  return most;
}

static MPI_Comm grid(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Comm made;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  return made;
}

static MPI_Comm row_of_grid(int step) {
  int remain[2] = {step % 2, 1 - step % 2};
  MPI_Comm whole = grid(), made;
  MPI_Cart_sub(whole, remain, &made);
  MPI_Comm_free(&whole);
  return made;
}

static MPI_Comm make(int step) {
  const MPI_Comm other = kept[step % places];
  const int color = part(step, 1) % 4 == 0 ? MPI_UNDEFINED : part(step, 2) % 2;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group;
  int own;
  switch (step % kinds) {
    case 0:
      MPI_Comm_split(MPI_COMM_WORLD, color, part(step, 3) % 5, &made);
      break;
    case 1:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
      break;
    case 2:
      if (other != MPI_COMM_NULL) MPI_Comm_split(other, part(step, 4) % 2, -rank, &made);
      break;
    case 3:
      group = most_of_the_world(step);
      MPI_Comm_create(MPI_COMM_WORLD, group, &made);
      MPI_Group_free(&group);
      break;
    case 4:
      return grid();
    case 5:
      if (other != MPI_COMM_NULL) MPI_Comm_dup(other, &made);
      break;
    case 6:
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, part(step, 5) % 3, MPI_INFO_NULL,
                          &made);
      break;
    case 7:
      return row_of_grid(step);
    case 8:
      group = most_of_the_world(step);
      MPI_Group_rank(group, &own);
      if (own != MPI_UNDEFINED) MPI_Comm_create_group(MPI_COMM_WORLD, group, step % 2, &made);
      MPI_Group_free(&group);
      break;
    default:
      MPI_Comm_split(MPI_COMM_WORLD, step % 2, 0, &made);
  }
  return made;
}

/* Who is in it, in which order. */
static void look_at(MPI_Comm comm) {
  MPI_Group all, mine;
  int own, count, numbers[ranks_max], ranks[ranks_max];
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &count);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(comm, &mine);
  for (int i = 0; i < count; ++i) numbers[i] = i;
  MPI_Group_translate_ranks(mine, count, numbers, all, ranks);
  mix_all(ranks, count);
  mix_all(&own, 1);
  MPI_Group_free(&all);
  MPI_Group_free(&mine);
}

static void take(const int* values, const MPI_Status* status) {
  int count = 0;
  MPI_Get_count(status, MPI_INT, &count);
  mix_all(values, count);
  mix((unsigned long)(status->MPI_SOURCE * 100 + status->MPI_TAG));
}

static void send_again(MPI_Comm comm, int step, int next, int before) {
  int out, in = 0, which;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Send_init(&out, 1, MPI_INT, next, 5, comm, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, before, 5, comm, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    out = part(step, i);
    MPI_Startall(2, requests);
    for (int k = 0; k < 2; ++k) {
      MPI_Waitany(2, requests, &which, &status);
      if (which == 1) take(&in, &status);
    }
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void point_to_point(MPI_Comm comm, int step) {
  int own, count;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &count);
  const int next = (own + 1) % count, before = (own + count - 1) % count, tag = step % 3;
  int out[3] = {part(step, 0), part(step, 1), part(step, 2)}, in[4] = {0, 0, 0, 0};
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Irecv(in, 1, MPI_INT, before, tag, comm, &requests[0]);
  MPI_Irecv(in + 1, 3, MPI_INT, before, MPI_ANY_TAG, comm, &requests[1]);
  MPI_Isend(out, 1, MPI_INT, next, tag, comm, &requests[2]);
  MPI_Send(out + 1, 2, MPI_INT, next, 7, comm);
  MPI_Waitall(3, requests, statuses);
  for (int i = 0; i < 2; ++i) take(in + i, &statuses[i]);

  MPI_Sendrecv(out, 2, MPI_INT, before, 9, in, 3, MPI_INT, next, 9, comm, &statuses[0]);
  take(in, &statuses[0]);
  MPI_Sendrecv(out, 3, MPI_INT, before, 8, in, 3, MPI_INT, MPI_ANY_SOURCE, 8, comm, &statuses[0]);
  take(in, &statuses[0]);
  MPI_Irecv(in, 3, MPI_INT, MPI_ANY_SOURCE, 6, comm, &requests[0]);
  MPI_Isend(out, 3, MPI_INT, next, 6, comm, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  take(in, &statuses[0]);
  MPI_Isend(out + 1, 2, MPI_INT, next, 4, comm, &requests[0]);
  MPI_Probe(MPI_ANY_SOURCE, 4, comm, &statuses[0]);
  MPI_Recv(in, 3, MPI_INT, statuses[0].MPI_SOURCE, 4, comm, &statuses[1]);
  take(in, &statuses[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  send_again(comm, step, next, before);
}

/* Along its dimensions. */
static void neighbors(MPI_Comm comm, int step) {
  int kind, dimensions, before, next;
  MPI_Topo_test(comm, &kind);
  if (kind != MPI_CART) return;
  MPI_Cartdim_get(comm, &dimensions);
  for (int i = 0; i < dimensions; ++i) {
    int out = part(step, i), in = -1;
    MPI_Cart_shift(comm, i, 1, &before, &next);
    MPI_Sendrecv(&out, 1, MPI_INT, next, i, &in, 1, MPI_INT, before, i, comm, MPI_STATUS_IGNORE);
    mix_all(&in, 1);
  }
}

static void use(MPI_Comm comm, int step) {
  look_at(comm);
  point_to_point(comm, step);
  neighbors(comm, step);
  collectives(step, comm);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (unsigned long)rank;
  for (int i = 0; i < places; ++i) kept[i] = MPI_COMM_NULL;
  for (int step = 0; step < steps; ++step) {
    MPI_Comm made = make(step);
    MPI_Comm* place = &kept[step % places];
    if (*place != MPI_COMM_NULL) MPI_Comm_free(place);
    *place = made;
    for (int i = 0; i < places; ++i)
      if (kept[i] != MPI_COMM_NULL) use(kept[i], step);
    use(MPI_COMM_WORLD, step);
  }
  for (int i = 0; i < places; ++i)
    if (kept[i] != MPI_COMM_NULL) MPI_Comm_free(&kept[i]);
  say(argc > 2 ? argv[2] : NULL);
  MPI_Finalize();
  return 0;
}
