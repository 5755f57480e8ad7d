// Rank 1 is killed in the midst of the allreduces; the others go on, and repair what is left. Says
// nothing but who has come to the end if all is right.
#include "fortran.h"
#include "resprout/resprout.h"

static integer number_type, sum;

static integer class_of(integer code) {
  integer class = -1;
  call(mpi_error_class_, &code, &class);
  return class;
}

static void collectives(void) {
  integer one = 1, all = 0, request;
  for (int i = 0; i < 6; ++i) {
    call(mpi_allreduce_, &one, &all, at(1), &number_type, &sum, &world);
    expect(all == size || all == size - 1);
  }
  expect(all == size - 1);
  all = 0;
  call(mpi_iallreduce_, &one, &all, at(1), &number_type, &sum, &world, &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  expect(all == size - 1);
  integer payload = rank == 0 ? 9 : 0;
  call(mpi_bcast_init_, &payload, at(1), &number_type, at(0), &world, at(0), &request);
  call(mpi_start_, &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  call(mpi_request_free_, &request);
  expect(payload == 9);
}

static void messages(void) {
  integer got = 0, request, status[status_integers];
  mpi_recv_(&got, at(1), &number_type, at(1), at(0), &world, status, &ierror);
  expect(class_of(ierror) == MPIX_ERR_PROC_FAILED);
  call(mpi_irecv_, &got, at(1), &number_type, at(1), at(0), &world, &request);
  mpi_wait_(&request, status, &ierror);
  expect(class_of(ierror) == MPIX_ERR_PROC_FAILED && request == 0);
  mpi_send_(&got, at(1), &number_type, at(1), at(0), &world, &ierror);
  expect(class_of(ierror) == MPIX_ERR_PROC_FAILED);
  if (rank == 0) call(mpi_send_, at(5), at(1), &number_type, at(2), at(0), &world);
  if (rank == 2) {
    call(mpi_recv_, &got, at(1), &number_type, at(0), at(0), &world, status);
    expect(got == 5 && status[MPI_F_SOURCE] == 0);
  }
}

static int copied, deleted;

static void copy(integer* comm, integer* key, MPI_Aint* extra, MPI_Aint* in, MPI_Aint* out,
                 logical* flag, integer* code) {
  expect(*comm > 1 && *key >= 0 && *extra == 1000);
  ++copied;
  *out = *in + *extra;
  *flag = 1;
  *code = MPI_SUCCESS;
}

static void delete_one(integer* comm, integer* key, MPI_Aint* value, MPI_Aint* extra,
                       integer* code) {
  expect(*comm > 1 && *key >= 0 && *extra == 1000 && *value > 0);
  ++deleted;
  *code = MPI_SUCCESS;
}

// `comm` was made after the loss.
static void attributes(integer comm) {
  integer key, other;
  MPI_Aint value = 7;
  logical flag = 0;
  call(mpi_comm_create_keyval_, copy, delete_one, &key, &(MPI_Aint){1000});
  call(mpi_comm_set_attr_, &comm, &key, &value);
  call(mpi_comm_dup_, &comm, &other);
  call(mpi_comm_get_attr_, &other, &key, &value, &flag);
  expect(flag == 1 && value == 1007 && copied == 1);
  call(mpi_comm_free_, &other);
  expect(deleted == 1);
}

static void repair(void) {
  integer flag = rank == 0 ? 6 : 3, group, number = -1, comm, request;
  mpix_comm_agree_(&world, &flag, &ierror);
  expect(flag == 2);
  call(mpix_comm_get_failed_, &world, &group);
  call(mpi_group_size_, &group, &number);
  expect(number == 1);

  call(mpix_comm_shrink_, &world, &comm);
  call(mpi_comm_size_, &comm, &number);
  expect(number == size - 1);
  attributes(comm);

  // The communicator is there when the request is complete.
  integer later[2] = {-1, -1};
  call(mpi_comm_idup_, &comm, &later[0], &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  call(mpix_comm_ishrink_, &world, &later[1], &request);
  call(mpi_wait_, &request, &mpi_fortran_status_ignore_);
  for (int i = 0; i < 2; ++i) {
    integer one = 1, all = 0;
    call(mpi_allreduce_, &one, &all, at(1), &number_type, &sum, &later[i]);
    expect(all == size - 1);
    call(mpi_comm_free_, &later[i]);
  }
  call(mpi_barrier_, &comm);
  call(mpix_comm_revoke_, &world);
  logical is_revoked = 0;
  call(mpix_comm_is_revoked_, &world, &is_revoked);
  mpi_recv_(&number, at(1), &number_type, at(0), at(0), &world, &mpi_fortran_status_ignore_,
            &ierror);
  expect(is_revoked == 1 && class_of(ierror) == MPIX_ERR_REVOKED);
  call(mpi_comm_free_, &comm);
}

int main(void) {
  mpi_init_(&ierror);
  number_type = MPI_Type_c2f(MPI_INTEGER);
  sum = MPI_Op_c2f(MPI_SUM);
  call(mpi_comm_rank_, &world, &rank);
  call(mpi_comm_size_, &world, &size);
  call(mpi_comm_set_errhandler_, &world, at(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)));
  collectives();
  messages();
  repair();
  printf("rank %d has come to the end\n", rank);
  mpi_finalize_(&ierror);
  return 0;
}
