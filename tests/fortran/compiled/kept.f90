! Steps with a checkpoint in memory after each 20, so that a job that is started again goes on from
! one. The last line depends on each step of each rank, and on nothing else.
program kept
  use, intrinsic :: iso_c_binding, only: c_int, c_loc, c_sizeof
  use resprout
  implicit none
  include 'mpif.h'
  interface
    function usleep(microseconds) bind(c) result(code)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: code
    end function
  end interface
  integer(c_int), target :: step = 0, total = 0
  integer :: rank, mine, ours, ierror
  logical :: is_first = .true.

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call resprout_protect(c_loc(step), c_sizeof(step))
  call resprout_protect(c_loc(total), c_sizeof(total))
  do
    if (mod(step, 20) == 0) call resprout_checkpoint()
    if (is_first .and. rank == 0) print '(a, i0)', 'begins at step ', step
    if (is_first) flush (6)
    is_first = .false.
    if (step == 600) exit
    ierror = usleep(20000)
    mine = step * (rank + 1) + 1
    call MPI_Allreduce(mine, ours, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    total = total + ours
    step = step + 1
  end do
  if (rank == 0) print '(a, i0)', 'after 600 steps: ', total
  call MPI_Finalize(ierror)
end program
