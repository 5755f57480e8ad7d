! The same in Fortran, with an MPI that has nothing for Fortran: what Resprout does not have of it is
! called in C.
program contributors
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr
  use resprout
  implicit none
  integer, parameter :: MPI_COMM_WORLD = 0, MPI_INTEGER = 7, MPI_SUM = 3  ! Open MPI's
  integer :: rank, one, total, group, ierror, i
  integer(c_int) :: members, code
  external :: mpi_init, mpi_comm_rank, mpi_allreduce, mpi_finalize

  interface
    function group_in_c(group) bind(c, name="MPI_Group_f2c") result(handle)
      import :: c_int, c_ptr
      integer(c_int), value :: group
      type(c_ptr) :: handle
    end function

    function group_size(group, members) bind(c, name="MPI_Group_size") result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: group
      integer(c_int), intent(out) :: members
      integer(c_int) :: code
    end function
  end interface

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  one = 1
  do i = 1, 3
    call mpi_allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  call resprout_contributors(MPI_COMM_WORLD, group, ierror)
  members = -1
  if (ierror == 0) code = group_size(group_in_c(group), members)
  if (rank == 1) print '(a, i0, a, i0)', "sum ", total, " of ", members
  call mpi_finalize(ierror)
end program
