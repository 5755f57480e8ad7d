// Messages around a ring, 10 a rank in each of four ways of Fortran. Says nothing if nothing that
// it receives is wrong.
#include "fortran.h"

enum { rounds = 10, numbers = 6 };

static integer given[numbers], got[numbers], number_type;

static void fill(integer of_rank, integer round, integer* data) {
  for (int i = 0; i < numbers; ++i) data[i] = 1000 * of_rank + 10 * round + i;
}

int main(void) {
  integer requests[2], kept[2], status[status_integers], total = -1;
  mpi_init_(&ierror);
  number_type = MPI_Type_c2f(MPI_INTEGER);
  call(mpi_comm_rank_, &world, &rank);
  call(mpi_comm_size_, &world, &size);
  integer right = (rank + 1) % size, left = (rank + size - 1) % size;
  call(mpi_send_init_, given, at(numbers), &number_type, &right, at(4), &world, &kept[0]);
  call(mpi_recv_init_, got, at(numbers), &number_type, at(MPI_ANY_SOURCE), at(4), &world, &kept[1]);
  for (integer i = 0; i < 4 * rounds; ++i) {
    integer expected[numbers];
    fill(left, i, expected);
    fill(rank, i, given);
    memset(got, -1, sizeof got);
    switch (i % 4) {
      case 0:
        call(mpi_irecv_, got, at(numbers), &number_type, at(i % 8 == 0 ? MPI_ANY_SOURCE : left),
             at(1), &world, &requests[0]);
        call(mpi_send_, given, at(numbers), &number_type, &right, at(1), &world);
        call(mpi_wait_, &requests[0], status);
        break;
      case 1:
        call(mpi_isend_, given, at(numbers), &number_type, &right, at(2), &world, &requests[0]);
        call(mpi_recv_, got, at(numbers), &number_type, &left, at(2), &world, status);
        call(mpi_wait_, &requests[0], &mpi_fortran_status_ignore_);
        break;
      case 2:
        call(mpi_sendrecv_f08_, given, at(numbers), &number_type, &right, at(3), got, at(numbers),
             &number_type, &left, at(3), &world, status);
        break;
      default:
        call(mpi_startall_, at(2), kept);
        call(mpi_waitall_, at(2), kept, &mpi_fortran_statuses_ignore_);
    }
    expect(memcmp(got, expected, sizeof got) == 0);
  }
  for (int i = 0; i < 2; ++i) call(mpi_request_free_, &kept[i]);
  call(mpi_allreduce_, &rank, &total, at(1), &number_type, at(MPI_Op_c2f(MPI_SUM)), &world);
  expect(total == size * (size - 1) / 2);
  mpi_finalize_(&ierror);
  return 0;
}
