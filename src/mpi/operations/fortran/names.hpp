// The names under which Fortran programs call MPI on Open MPI.
//
// Which one a compiler makes of MPI_Send depends on the compiler; all of Open MPI's own are here.
// The forms of mpi_f08 are those of mpif.h: their handles are one integer each, and what they may
// leave out, the error code, any form may be without.
#pragma once

// `lower` has been defined with an underscore behind it.
// NOLINTBEGIN(bugprone-macro-parentheses): what is declared cannot stand in any.
#define RESPROUT_FORTRAN_ALIAS(name, lower) \
  extern "C" decltype(lower##_) name __attribute__((alias(#lower "_")));
// NOLINTEND(bugprone-macro-parentheses)
#define RESPROUT_FORTRAN_NAMES(lower, upper, mixed) \
  RESPROUT_FORTRAN_ALIAS(lower, lower)              \
  RESPROUT_FORTRAN_ALIAS(lower##__, lower)          \
  RESPROUT_FORTRAN_ALIAS(upper, lower)              \
  RESPROUT_FORTRAN_ALIAS(mixed##_f, lower)          \
  RESPROUT_FORTRAN_ALIAS(mixed##_f08, lower)        \
  RESPROUT_FORTRAN_ALIAS(lower##_f08_, lower)
