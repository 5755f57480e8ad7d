! As new programs have it: typed handles, and no error codes where nobody looks at them. What it does
! and says is what classic.f90 does and says.
program modern
  use mpi_f08
  implicit none
  integer :: rank, ranks, left, right, index, i, everybody, got(2), ierror
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  double precision :: total(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)

  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  call MPI_Irecv(got(1), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Irecv(got(2), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Send(20 + rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
  call MPI_Waitany(2, requests, index, status)
  if (index /= 2 .or. got(2) /= 20 + left .or. status%MPI_TAG /= 2) print *, rank, 'second'
  if (requests(2)%MPI_VAL /= MPI_REQUEST_NULL%MPI_VAL) print *, rank, 'open'
  call MPI_Barrier(MPI_COMM_WORLD)  ! nobody sends the first before all have the second
  call MPI_Send(10 + rank, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  if (got(1) /= 10 + left) print *, rank, 'first'

  total = [1d0, 0.5d0]
  call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (nint(2 * total(2)) /= nint(total(1))) print *, rank, 'sum'
  do i = 1, 6
    call MPI_Allreduce(1, everybody, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end do
  call MPI_Recv(got, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  print '(a,i0,a,i0,a,l1)', 'rank ', rank, ' of ', everybody, ' living, lost ', ierror /= MPI_SUCCESS
  if (MPI_Wtime() <= 0d0) print *, rank, 'has no time'
  call MPI_Finalize()
end program
