! As old programs have it. Messages around a ring, completed in any order; then allreduces in which
! rank 1 may be killed. Says how many were in the last one, and what a message from rank 1 comes to.
program classic
  implicit none
  include 'mpif.h'
  integer :: ierror, rank, ranks, left, right, index, i, everybody, one, got(2), length
  integer :: requests(2), status(MPI_STATUS_SIZE)
  double precision :: total(2)
  character(len=MPI_MAX_PROCESSOR_NAME) :: name

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_GET_PROCESSOR_NAME(name, length, ierror)
  if (len_trim(name) /= length .or. length == 0) print *, rank, 'has no name'

  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call MPI_IRECV(got(1), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_IRECV(got(2), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_SEND(20 + rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  call MPI_WAITANY(2, requests, index, status, ierror)
  if (index /= 2 .or. got(2) /= 20 + left .or. status(MPI_TAG) /= 2) print *, rank, 'second'
  if (requests(2) /= MPI_REQUEST_NULL .or. requests(1) == MPI_REQUEST_NULL) print *, rank, 'open'
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)  ! nobody sends the first before all have the second
  call MPI_SEND(10 + rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
  call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
  if (got(1) /= 10 + left) print *, rank, 'first'

  total = [1d0, 0.5d0]
  call MPI_ALLREDUCE(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (nint(2 * total(2)) /= nint(total(1))) print *, rank, 'sum'
  one = 1
  do i = 1, 6
    call MPI_ALLREDUCE(one, everybody, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  call MPI_RECV(got, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  print '(a,i0,a,i0,a,l1)', 'rank ', rank, ' of ', everybody, ' living, lost ', ierror /= MPI_SUCCESS
  if (MPI_WTIME() <= 0d0) print *, rank, 'has no time'
  call MPI_FINALIZE(ierror)
end program
