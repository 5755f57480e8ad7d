// Every kind of argument that Fortran passes, without losses. Says nothing if all is right.
#include <unistd.h>

#include "fortran.h"

static integer number_type, real_type, sum;

static void point_to_point(void) {
  const integer right = (rank + 1) % size, left = (rank + size - 1) % size;
  integer status[status_integers], count = -1, got = -1;
  integer data[3] = {rank, 10, 20}, room[8];
  call(mpi_sendrecv_, data, at(3), &number_type, (integer*)&right, at(7), room, at(8), &number_type,
       at(MPI_ANY_SOURCE), at(MPI_ANY_TAG), &world, status);
  call(mpi_get_count_, status, &number_type, &count);
  expect(count == 3 && room[0] == left && room[2] == 20);
  expect(status[MPI_F_SOURCE] == left && status[MPI_F_TAG] == 7);
  call(mpi_sendrecv_, &rank, at(1), &number_type, (integer*)&right, at(0), &got, at(1),
       &number_type, (integer*)&left, at(0), &world, &mpi_fortran_status_ignore_);
  expect(got == left);

  integer requests[2];
  logical flag = 0;
  call(mpi_isendrecv_, &rank, at(1), &number_type, (integer*)&right, at(2), room, at(8),
       &number_type, at(MPI_ANY_SOURCE), at(2), &world, &requests[0]);
  call(mpi_wait_, &requests[0], status);
  expect(room[0] == left && status[MPI_F_SOURCE] == left && status[MPI_F_TAG] == 2);
  call(mpi_isend_, &rank, at(1), &number_type, (integer*)&right, at(1), &world, &requests[0]);
  call(mpi_probe_, (integer*)&left, at(1), &world, status);
  expect(status[MPI_F_SOURCE] == left);
  call(mpi_iprobe_, (integer*)&left, at(1), &world, &flag, status);
  expect(flag == 1);
  integer message;
  call(mpi_mprobe_, (integer*)&left, at(1), &world, &message, status);
  call(mpi_mrecv_, &got, at(1), &number_type, &message, status);
  expect(message == MPI_Message_c2f(MPI_MESSAGE_NULL) && got == left);
  call(mpi_wait_, &requests[0], status);
  expect(requests[0] == MPI_Request_c2f(MPI_REQUEST_NULL));
}

// From the last to the first, so that places are told apart.
static void completion(void) {
  enum { n = 4 };
  integer requests[n], values[n], statuses[n][status_integers], index = -9, outcount = -9;
  const integer null = MPI_Request_c2f(MPI_REQUEST_NULL);
  const integer self = MPI_Comm_c2f(MPI_COMM_SELF);
  logical flag = -9;
  for (int i = 0; i < n; ++i)
    call(mpi_irecv_, &values[i], at(1), &number_type, at(0), at(i), (integer*)&self, &requests[i]);
  call(mpi_testany_, at(n), requests, &index, &flag, &mpi_fortran_status_ignore_);
  expect(flag == 0 && index == MPI_UNDEFINED);
  call(mpi_testall_, at(n), requests, &flag, &mpi_fortran_statuses_ignore_);
  expect(flag == 0 && requests[0] != null);
  call(mpi_testsome_, at(n), requests, &outcount, values, statuses);
  expect(outcount == 0);

  call(mpi_send_, at(42), at(1), &number_type, at(0), at(3), &self);
  call(mpi_waitany_, at(n), requests, &index, statuses[0]);
  expect(index == 4 && requests[3] == null && values[3] == 42 && statuses[0][MPI_F_TAG] == 3);
  call(mpi_send_, at(41), at(1), &number_type, at(0), at(1), &self);
  integer places[n];
  call(mpi_waitsome_, at(n), requests, &outcount, places, statuses);
  expect(outcount == 1 && places[0] == 2 && requests[1] == null && statuses[0][MPI_F_TAG] == 1);
  call(mpi_send_, at(40), at(1), &number_type, at(0), at(0), &self);
  call(mpi_send_, at(43), at(1), &number_type, at(0), at(2), &self);
  call(mpi_waitall_, at(n), requests, statuses);
  expect(values[0] == 40 && values[2] == 43);
  expect(statuses[0][MPI_F_TAG] == 0 && statuses[2][MPI_F_TAG] == 2);
  call(mpi_waitany_, at(n), requests, &index, statuses[0]);
  expect(index == MPI_UNDEFINED);
  call(mpi_waitsome_, at(n), requests, &outcount, places, statuses);
  expect(outcount == MPI_UNDEFINED);
}

static void persistent(void) {
  const integer self = MPI_Comm_c2f(MPI_COMM_SELF);
  integer given = 0, got = 0, requests[2], status[status_integers];
  call(mpi_send_init_, &given, at(1), &number_type, at(0), at(5), &self, &requests[0]);
  call(mpi_recv_init_, &got, at(1), &number_type, at(0), at(5), &self, &requests[1]);
  const integer kept[2] = {requests[0], requests[1]};
  for (given = 1; given < 4; ++given) {
    call(mpi_startall_, at(2), requests);
    call(mpi_waitall_, at(2), requests, &mpi_fortran_statuses_ignore_);
    expect(got == given && requests[0] == kept[0] && requests[1] == kept[1]);
  }
  for (int i = 0; i < 2; ++i) call(mpi_request_free_, &requests[i]);
  expect(requests[0] == 0 && requests[1] == 0);

  integer contribution = rank, total = -1, request;
  call(mpi_allreduce_init_, &contribution, &total, at(1), &number_type, &sum, &world, at(0),
       &request);
  for (int i = 0; i < 3; ++i) {
    contribution = rank + i;
    call(mpi_start_, &request);
    call(mpi_wait_, &request, status);
    expect(total == size * (size - 1) / 2 + i * size);
  }
  call(mpi_request_free_, &request);
}

static void multiply(void* in, void* inout, integer* count, integer* datatype) {
  expect(*datatype == number_type);
  for (int i = 0; i < *count; ++i) ((integer*)inout)[i] *= ((integer*)in)[i];
}

static void collectives(void) {
  double mine[2] = {rank, 1.5}, all[2] = {-1, -1};
  call(mpi_allreduce_, mine, all, at(2), &real_type, &sum, &world);
  expect(all[0] == size * (size - 1) / 2 && all[1] == 1.5 * size);
  call(mpi_allreduce_, &mpi_fortran_in_place_, mine, at(2), &real_type, &sum, &world);
  expect(mine[0] == all[0] && mine[1] == all[1]);

  integer op, two = 2, product = -1, request;
  call(mpi_op_create_, multiply, at(1), &op);
  call(mpi_iallreduce_, &two, &product, at(1), &number_type, &op, &world, &request);
  call(mpi_op_free_, &op);
  expect(op == MPI_Op_c2f(MPI_OP_NULL));
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  expect(product == 1 << size);

  integer* counts = malloc(sizeof *counts * 6 * size);
  integer *displs = counts + size, *types = displs + size, *from = types + size, *to = from + size;
  integer* bytes = to + size;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1, displs[i] = i, bytes[i] = i * (int)sizeof *to;
    types[i] = number_type, from[i] = 100 * rank + i, to[i] = -1;
  }
  call(mpi_allgatherv_, &rank, at(1), &number_type, to, counts, displs, &number_type, &world);
  for (int i = 0; i < size; ++i) expect(to[i] == i);
  call(mpi_alltoallw_, from, counts, bytes, types, to, counts, bytes, types, &world);
  for (int i = 0; i < size; ++i) expect(to[i] == 100 * i + rank);
  // The datatypes of a buffer in place may be anything.
  memcpy(to, from, sizeof *to * size);
  call(mpi_ialltoallw_, &mpi_fortran_in_place_, at(-1), at(-1), NULL, to, counts, bytes, types,
       &world, &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  for (int i = 0; i < size; ++i) expect(to[i] == 100 * i + rank);
  call(mpi_alltoallw_init_, from, counts, bytes, types, to, counts, bytes, types, &world, at(0),
       &request);
  memset(types, 0, sizeof *types * size);  // read when the request was made
  for (int round = 0; round < 2; ++round) {
    memset(to, 0, sizeof *to * size);
    call(mpi_start_, &request);
    call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
    for (int i = 0; i < size; ++i) expect(to[i] == 100 * i + rank);
  }
  call(mpi_request_free_, &request);
  free(counts);
}

// Absolute addresses in a datatype.
static void bottom(void) {
  static integer here = 0;
  integer datatype, sum_of_all = 0;
  MPI_Aint address;
  here = rank == 0 ? 77 : -1;
  call(mpi_get_address_, &here, &address);
  call(mpi_type_create_hindexed_, at(1), at(1), &address, &number_type, &datatype);
  call(mpi_type_commit_, &datatype);
  call(mpi_bcast_, &mpi_fortran_bottom_, at(1), &datatype, at(0), &world);
  expect(here == 77);
  call(mpi_type_free_, &datatype);
  expect(datatype == MPI_Type_c2f(MPI_DATATYPE_NULL));
  call(mpi_reduce_, &here, &sum_of_all, at(1), &number_type, &sum, at(0), &world);
  expect(sum_of_all == (rank == 0 ? 77 * size : 0));
}

// In a grid that is a ring with two borders: their blocks, and the handles for them, are there.
static void neighbors(integer* grid) {
  enum { n = 4 };
  const integer left = (rank + size - 1) % size, right = (rank + 1) % size;
  const integer expected[n] = {-1, -1, left, right};
  integer from[n], to[n], counts[n], types[n], request;
  MPI_Aint bytes[n];
  for (int i = 0; i < n; ++i) {
    counts[i] = 1, bytes[i] = i * (int)sizeof *to, types[i] = number_type, from[i] = rank;
  }
  for (int form = 0; form < 4; ++form) {
    memset(to, -1, sizeof to);
    if (form == 0)
      call(mpi_neighbor_allgather_, &rank, at(1), &number_type, to, at(1), &number_type, grid);
    if (form == 1)
      call(mpi_neighbor_alltoallw_, from, counts, bytes, types, to, counts, bytes, types, grid);
    if (form == 2)
      call(mpi_ineighbor_alltoallw_, from, counts, bytes, types, to, counts, bytes, types, grid,
           &request);
    if (form == 3) {
      call(mpi_neighbor_alltoallw_init_, from, counts, bytes, types, to, counts, bytes, types, grid,
           at(0), &request);
      memset(types, 0, sizeof types);  // read when the request was made
      call(mpi_start_, &request);
    }
    if (form > 1) call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
    expect(memcmp(to, expected, sizeof to) == 0);
  }
  call(mpi_request_free_, &request);
}

static void communicators(void) {
  integer half, other = -1, request, number = -1, result = -1, group, grid;
  const integer null = MPI_Comm_c2f(MPI_COMM_NULL);
  call(mpi_comm_split_, &world, at(rank % 2), &rank, &half);
  call(mpi_comm_size_, &half, &number);
  expect(number == (size + 1 - rank % 2) / 2);
  call(mpi_comm_compare_, &half, &half, &result);
  expect(result == MPI_IDENT);
  call(mpi_comm_group_, &half, &group);
  call(mpi_group_size_, &group, &result);
  expect(result == number);
  call(mpi_comm_idup_, &world, &other, &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  call(mpi_comm_rank_, &other, &number);
  expect(number == rank);
  call(mpi_barrier_, &other);
  call(mpi_comm_free_, &other);
  call(mpi_comm_free_, &half);
  expect(other == null && half == null);

  integer dims[2] = {1, size}, coords[2] = {-1, -1}, ndims = -1, up = -1, down = -1;
  const logical periods[2] = {0, 1}, remain[2] = {0, 1};
  logical found[2] = {-1, -1};
  call(mpi_cart_create_, &world, at(2), dims, periods, at(0), &grid);
  call(mpi_cartdim_get_, &grid, &ndims);
  call(mpi_cart_get_, &grid, at(2), dims, found, coords);
  expect(ndims == 2 && dims[1] == size && found[0] == 0 && found[1] == 1 && coords[1] == rank);
  call(mpi_cart_shift_, &grid, at(1), at(1), &up, &down);
  expect(up == (rank + size - 1) % size && down == (rank + 1) % size);
  neighbors(&grid);
  call(mpi_cart_sub_, &grid, remain, &half);
  call(mpi_comm_size_, &half, &number);
  expect(number == size);
  call(mpi_comm_free_, &half);
  call(mpi_comm_free_, &grid);
  call(mpi_dist_graph_create_adjacent_, &world, at(1), &up, &mpi_fortran_unweighted_, at(1), &down,
       &mpi_fortran_unweighted_, at(0), at(0), &grid);
  call(mpi_comm_free_, &grid);
}

static void strings(void) {
  char name[MPI_MAX_PROCESSOR_NAME + 8], c_name[MPI_MAX_PROCESSOR_NAME];
  integer length = -1, c_length = -1, file;
  memset(name, '?', sizeof name);
  ierror = -1;
  mpi_get_processor_name_(name, &length, &ierror, sizeof name - 1);
  PMPI_Get_processor_name(c_name, &c_length);
  expect(ierror == MPI_SUCCESS && length == c_length && !memcmp(name, c_name, c_length));
  for (size_t i = length; i < sizeof name - 1; ++i) expect(name[i] == ' ');
  expect(name[sizeof name - 1] == '?');
  mpi_get_processor_name_(name, &length, &ierror, (size_t)1);
  expect(name[0] == c_name[0]);

  const char* directory = getenv("TMPDIR");
  char path[512];
  memset(path, ' ', sizeof path);
  const int used =
      snprintf(path, sizeof path, "%s/fortran_%d", directory ? directory : "/tmp", rank);
  path[used] = ' ';  // as Fortran leaves it
  const integer self = MPI_Comm_c2f(MPI_COMM_SELF);
  mpi_file_open_(&self, path, at(MPI_MODE_CREATE | MPI_MODE_RDWR), at(0), &file, &ierror,
                 sizeof path);
  expect(ierror == MPI_SUCCESS);
  MPI_File c_file = MPI_File_f2c(file);
  MPI_File_close(&c_file);
  path[used] = '\0';
  expect(access(path, F_OK) == 0);
  path[used] = ' ';
  mpi_file_delete_(path, at(0), &ierror, sizeof path);
  expect(ierror == MPI_SUCCESS);
  path[used] = '\0';
  expect(access(path, F_OK) != 0);
}

// One of all, each of whom writes its rank behind the last one's.
static void files(void) {
  const char* directory = getenv("TMPDIR");
  const char* job = getenv("PMIX_NAMESPACE");
  char path[512];
  memset(path, ' ', sizeof path);
  const int used = snprintf(path, sizeof path, "%s/fortran_file_%s", directory ? directory : "/tmp",
                            job ? job : "of_one");
  path[used] = ' ';
  const integer amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  integer file = -1, got = -1, status[status_integers], group = -1, members = -1, request;
  MPI_Offset at_byte = 0, offset = -1;
  const integer no_info = MPI_Info_c2f(MPI_INFO_NULL);
  mpi_file_open_(&world, path, &amode, &no_info, &file, &ierror, sizeof path);
  expect(ierror == MPI_SUCCESS);
  call(mpi_file_get_amode_, &file, &got);
  expect(got == amode);
  call(mpi_file_get_group_, &file, &group);
  call(mpi_group_size_, &group, &members);
  expect(members == size);
  call(mpi_file_set_size_, &file, &at_byte);
  mpi_file_set_view_(&file, &at_byte, &number_type, &number_type, "native  ", &no_info, &ierror,
                     (size_t)8);
  expect(ierror == MPI_SUCCESS);
  call(mpi_file_write_ordered_, &file, &rank, at(1), &number_type, status);
  call(mpi_file_write_ordered_begin_, &file, &rank, at(1), &number_type);
  call(mpi_file_write_ordered_end_, &file, &rank, status);
  call(mpi_barrier_, &world);
  call(mpi_file_get_position_shared_, &file, &offset);
  expect(offset == 2 * size);
  call(mpi_barrier_, &world);
  offset = size;
  call(mpi_file_seek_shared_, &file, &offset, at(MPI_SEEK_SET));
  call(mpi_file_read_ordered_, &file, &got, at(1), &number_type, status);
  expect(got == rank);
  offset = size;
  call(mpi_file_seek_shared_, &file, &offset, at(MPI_SEEK_SET));
  call(mpi_file_read_shared_, &file, &got, at(1), &number_type, status);
  expect(got >= 0 && got < size);
  call(mpi_barrier_, &world);
  offset = size;
  call(mpi_file_seek_shared_, &file, &offset, at(MPI_SEEK_SET));
  call(mpi_file_iread_shared_, &file, &got, at(1), &number_type, &request);
  call(mpi_wait_, &request, status);
  expect(got >= 0 && got < size);
  call(mpi_file_close_, &file);
  expect(file == MPI_File_c2f(MPI_FILE_NULL));
  path[used] = '\0';
  expect(access(path, F_OK) != 0);
}

// mpi_f08 has the same arguments; the error code may be left out.
static void f08(void) {
  integer mine = 1, all = 0, status[status_integers];
  mpi_allreduce_f08_(&mine, &all, at(1), &number_type, &sum, &world, NULL);
  expect(all == size);
  mpi_sendrecv_f08_(&rank, at(1), &number_type, &rank, at(0), &all, at(1), &number_type, &rank,
                    at(0), &world, status, NULL);
  expect(all == rank && status[MPI_F_SOURCE] == rank);
  expect(mpi_wtime_() > 0.0);
}

int main(void) {
  integer provided = -1;
  call(mpi_init_thread_, at(MPI_THREAD_MULTIPLE), &provided);
  expect(provided == MPI_THREAD_MULTIPLE);
  number_type = MPI_Type_c2f(MPI_INTEGER);
  real_type = MPI_Type_c2f(MPI_DOUBLE_PRECISION);
  sum = MPI_Op_c2f(MPI_SUM);
  call(mpi_comm_rank_, &world, &rank);
  call(mpi_comm_size_, &world, &size);
  point_to_point();
  completion();
  persistent();
  collectives();
  bottom();
  communicators();
  strings();
  files();
  f08();
  mpi_finalize_(&ierror);
  expect(ierror == MPI_SUCCESS);
  return 0;
}
