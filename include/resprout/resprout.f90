! What a program in Fortran can ask Resprout, beyond MPI; resprout.h says what each call does.
!
!     use resprout
!     call resprout_contributors(comm, group, ierror)
!
! Communicators, groups and datatypes are integers, as in mpif.h and `use mpi`; of mpi_f08 give
! comm%MPI_VAL. `ierror`, which may be left out, is MPI_SUCCESS or an error code. The program is
! linked with libresprout_fortran.a and libresprout.so. REQUIRES: Open MPI, whose handles are
! addresses in C.
module resprout
  use, intrinsic :: iso_c_binding, only: c_funptr, c_int, c_ptr, c_size_t
  implicit none
  private
  public :: resprout_contributors, resprout_on_missing, resprout_protect, resprout_checkpoint
  public :: resprout_stand_in

  abstract interface
    ! What stands in for the contribution of `rank`: 1 if it was written, 0 if there is nothing.
    function resprout_stand_in(comm, rank, contribution, count, datatype, extra) bind(c) result(has)
      import :: c_int, c_ptr
      type(c_ptr), value :: comm, contribution, datatype, extra
      integer(c_int), value :: rank, count
      integer(c_int) :: has
    end function
  end interface

  interface
    function comm_in_c(comm) bind(c, name="MPI_Comm_f2c") result(handle)
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr) :: handle
    end function

    function group_in_fortran(group) bind(c, name="MPI_Group_c2f") result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: group
      integer(c_int) :: number
    end function

    function contributors_in_c(comm, group) bind(c, name="resprout_contributors") result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      type(c_ptr) :: group
      integer(c_int) :: code
    end function

    function on_missing_in_c(comm, stand_in, extra) bind(c, name="resprout_on_missing") result(code)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: comm, extra
      type(c_funptr), value :: stand_in
      integer(c_int) :: code
    end function

    function protect_in_c(begin, bytes) bind(c, name="resprout_protect") result(code)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: begin
      integer(c_size_t), value :: bytes
      integer(c_int) :: code
    end function

    function checkpoint_in_c() bind(c, name="resprout_checkpoint") result(code)
      import :: c_int
      integer(c_int) :: code
    end function
  end interface

contains

  ! Whose data are in the result of the last collective on `comm`; the group is the caller's to free.
  subroutine resprout_contributors(comm, group, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: group
    integer, intent(out), optional :: ierror
    type(c_ptr) :: handle
    integer(c_int) :: code

    code = contributors_in_c(comm_in_c(int(comm, c_int)), handle)
    if (code == 0) group = group_in_fortran(handle)
    if (present(ierror)) ierror = code
  end subroutine

  ! `stand_in`: c_funloc of a resprout_stand_in, or c_null_funptr.
  subroutine resprout_on_missing(comm, stand_in, extra, ierror)
    integer, intent(in) :: comm
    type(c_funptr), intent(in) :: stand_in
    type(c_ptr), intent(in) :: extra
    integer, intent(out), optional :: ierror
    integer(c_int) :: code

    code = on_missing_in_c(comm_in_c(int(comm, c_int)), stand_in, extra)
    if (present(ierror)) ierror = code
  end subroutine

  ! A checkpoint keeps `bytes` bytes from `begin` on: c_loc(field) and c_sizeof(field).
  subroutine resprout_protect(begin, bytes, ierror)
    type(c_ptr), intent(in) :: begin
    integer(c_size_t), intent(in) :: bytes
    integer, intent(out), optional :: ierror
    integer(c_int) :: code

    code = protect_in_c(begin, bytes)
    if (present(ierror)) ierror = code
  end subroutine

  ! Keeps what is protected, or puts back what the last checkpoint has kept: where replicas have
  ! found wrong data, or in the first call of a job that was started again after a loss.
  subroutine resprout_checkpoint(ierror)
    integer, intent(out), optional :: ierror
    integer(c_int) :: code

    code = checkpoint_in_c()
    if (present(ierror)) ierror = code
  end subroutine

end module
