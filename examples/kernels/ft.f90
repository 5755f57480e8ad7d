! Fourier transform: the twin of ft.c, of which it has the digest. Compile it with -fwrapv, for its
! random numbers overflow:
!
!   mpifort -O2 -fwrapv ft.f90 -o ft
!   ft [CLASS [ITERATIONS]]     64, 256 or 1024 points a side; ranks divide that
!
! The wave's rows are columns here, as Fortran stores them; on the way to other ranks they are
! turned by transposing slices, not by a derived datatype.
program ft
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08
  implicit none
  real(real64), parameter :: pi = acos(-1d0), time = 0.001d0
  integer :: rank, ranks, class_number, iterations, side, rows, first, i
  integer(int64) :: digest
  real(real64) :: began, norm, worst
  logical :: is_right
  complex(real64), allocatable :: wave(:, :), start(:, :)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments()
  began = MPI_Wtime()
  side = 64 * 4**class_number
  if (mod(side, ranks) /= 0) &
    call refuse('the number of ranks has to divide the side: 64 of class S, 256 of W, 1024 of A')
  rows = side / ranks
  first = rank * rows
  allocate (wave(side, rows), start(side, rows))
  call fill(start)
  wave = start
  norm = norm_of(wave)
  is_right = .true.
  do i = 1, iterations
    ! There and back transpose twice, so that the wave lies as it lay.
    call transform(wave, -1)
    call advance(wave, time)
    call transform(wave, +1)
    is_right = is_right .and. abs(norm_of(wave) / norm - 1) < 1d-12 * i
  end do
  digest = digest_of(wave)
  call transform(wave, -1)
  call advance(wave, -time * iterations)
  call transform(wave, +1)
  worst = maxval(abs(wave - start))
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  ! A wave number's phase is known to about its own size times the precision of numbers.
  is_right = is_right .and. worst < 1d-13 * side * (iterations + 1)
  call finish()

contains

  ! Says why, once, and ends the program on all ranks. To be called by all of them.
  subroutine refuse(why)
    character(len=*), intent(in) :: why
    if (rank == 0) write (error_unit, '(2a)') 'ft: ', why
    call MPI_Finalize()
    stop 2, quiet = .true.
  end subroutine

  subroutine read_arguments()
    character(len=8) :: word
    integer :: error
    class_number = 0
    iterations = 6
    if (command_argument_count() > 0) then
      call get_command_argument(1, word)
      class_number = index('SWA', trim(word)) - 1
      if (len_trim(word) /= 1) class_number = -1
    end if
    if (class_number < 0 .or. command_argument_count() > 2) &
      call refuse('arguments are [CLASS [ITERATIONS]]; CLASS is one of S, W, A')
    if (command_argument_count() < 2) return
    call get_command_argument(2, word)
    read (word, *, iostat=error) iterations
    if (error /= 0 .or. verify(trim(word), '0123456789') /= 0) iterations = 0
    if (iterations < 1 .or. iterations > 1000000) &
      call refuse('ITERATIONS is a number from 1 to 1000000')
  end subroutine

  ! 64 bits from a number (kernel.h).
  elemental integer(int64) function hash(number)
    integer(int64), intent(in) :: number
    hash = (number + int(z'9e3779b97f4a7c15', int64)) * int(z'bf58476d1ce4e5b9', int64)
    hash = ieor(hash, shiftr(hash, 31)) * int(z'94d049bb133111eb', int64)
    hash = ieor(hash, shiftr(hash, 29))
  end function

  ! From -1/2 to 1/2, from a number.
  elemental real(real64) function uniform(number)
    integer(int64), intent(in) :: number
    uniform = shiftr(hash(hash(number)), 11) * 2d0**(-53) - 0.5d0
  end function

  ! The number of a point among all.
  elemental integer(int64) function place(row, point)
    integer, intent(in) :: row, point  ! from 1; of this rank
    place = int(first + row - 1, int64) * side + point - 1
  end function

  subroutine fill(field)
    complex(real64), intent(out) :: field(:, :)
    integer :: row, point
    do row = 1, rows
      do point = 1, side
        field(point, row) = cmplx(uniform(2 * place(row, point)), &
                                  uniform(2 * place(row, point) + 1), real64)
      end do
    end do
  end subroutine

  integer(int64) function digest_of(field)
    complex(real64), intent(in) :: field(:, :)
    integer(int64) :: number
    integer :: row, point
    digest_of = 0
    do row = 1, rows
      do point = 1, side
        number = 2 * place(row, point)
        digest_of = digest_of &
                    + hash(ieor(hash(number), transfer(real(field(point, row)), number))) &
                    + hash(ieor(hash(number + 1), transfer(aimag(field(point, row)), number)))
      end do
    end do
  end function

  real(real64) function norm_of(field)
    complex(real64), intent(in) :: field(:, :)
    norm_of = sum(real(field)**2 + aimag(field)**2)
    call MPI_Allreduce(MPI_IN_PLACE, norm_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    norm_of = sqrt(norm_of) / side
  end function

  ! In place, by decimation in time; sign is -1 or, backwards, +1.
  subroutine transform_row(row, sign)
    complex(real64), intent(inout) :: row(0:)
    integer, intent(in) :: sign
    integer :: i, j, bit, half, k
    complex(real64) :: turn, odd
    j = 0
    do i = 1, side - 1
      bit = side / 2
      do while (iand(j, bit) /= 0)
        j = ieor(j, bit)
        bit = bit / 2
      end do
      j = ior(j, bit)
      if (i < j) row([i, j]) = row([j, i])
    end do
    half = 1
    do while (half < side)
      do k = 0, half - 1
        turn = exp(cmplx(0, sign * pi * k / half, real64))
        do i = k, side - 1, 2 * half
          odd = turn * row(i + half)
          row(i + half) = row(i) - odd
          row(i) = row(i) + odd
        end do
      end do
      half = 2 * half
    end do
  end subroutine

  ! The square's other direction comes to lie in the first.
  subroutine turn_square(field)
    complex(real64), intent(inout) :: field(:, :)
    complex(real64), allocatable :: given(:, :, :), got(:, :, :)
    integer :: other
    allocate (given(rows, rows, ranks), got(rows, rows, ranks))
    do other = 1, ranks
      given(:, :, other) = transpose(field((other - 1) * rows + 1:other * rows, :))
    end do
    call MPI_Alltoall(given, rows * rows, MPI_DOUBLE_COMPLEX, got, rows * rows, &
                      MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD)
    do other = 1, ranks
      field((other - 1) * rows + 1:other * rows, :) = got(:, :, other)
    end do
  end subroutine

  ! The wave becomes its transform, turned, scaled so that its norm stays.
  subroutine transform(field, sign)
    complex(real64), intent(inout) :: field(:, :)
    integer, intent(in) :: sign
    integer :: pass, row
    real(real64) :: scale
    scale = sqrt(real(side, real64))
    do pass = 1, 2
      do row = 1, rows
        call transform_row(field(:, row), sign)
        field(:, row) = cmplx(real(field(:, row)) / scale, aimag(field(:, row)) / scale, real64)
      end do
      if (pass == 1) call turn_square(field)
    end do
  end subroutine

  ! From -side/2 to side/2.
  real(real64) function wave_number(number)
    integer, intent(in) :: number
    wave_number = merge(number, number - side, number < side / 2)
  end function

  subroutine advance(spectrum, by)
    complex(real64), intent(inout) :: spectrum(:, :)
    real(real64), intent(in) :: by
    real(real64) :: a, b
    integer :: row, point
    do row = 1, rows
      a = wave_number(first + row - 1)
      do point = 1, side
        b = wave_number(point - 1)
        spectrum(point, row) = spectrum(point, row) &
                               * exp(cmplx(0, -(a * a + b * b) * by, real64))
      end do
    end do
  end subroutine

  ! The line, and MPI_Finalize. The lowest rank that still answers speaks for all.
  subroutine finish()
    real(real64) :: seconds
    integer :: lowest(2), i
    character(len=16) :: hex, result, duration
    seconds = MPI_Wtime() - began
    lowest = [rank, merge(1, 0, is_right)]
    call MPI_Allreduce(MPI_IN_PLACE, digest, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, lowest, 2, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    if (rank == lowest(1)) then
      write (hex, '(z16.16)') digest
      do i = 1, 16
        if (hex(i:i) > '9') hex(i:i) = achar(iachar(hex(i:i)) + 32)
      end do
      write (result, '(es16.9)') worst
      write (duration, '(f16.3)') seconds
      print '(3a,i0,a,i0,8a)', 'ft class=', 'SWA' (class_number + 1:class_number + 1), ' ranks=', &
        ranks, ' iterations=', iterations, ' result=', trim(adjustl(result)), ' digest=', hex, &
        ' seconds=', trim(adjustl(duration)), &
        ' ', trim(merge('verified           ', 'VERIFICATION FAILED', lowest(2) == 1))
    end if
    call MPI_Finalize()
    if (lowest(2) /= 1) stop 1, quiet = .true.
  end subroutine

end program
