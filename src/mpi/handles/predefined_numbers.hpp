// Numbers that name predefined handles in every process of a job. Those of Fortran, or, where the
// standard binary interface of MPI 5 has none for Fortran, its own.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

#if defined(MPI_ABI_VERSION)

inline int predefined_number(MPI_Op op) { return PMPI_Op_toint(op); }
inline int predefined_number(MPI_Datatype type) { return PMPI_Type_toint(type); }
inline MPI_Op predefined_op(int number) { return PMPI_Op_fromint(number); }
inline MPI_Datatype predefined_type(int number) { return PMPI_Type_fromint(number); }

#else

inline int predefined_number(MPI_Op op) { return PMPI_Op_c2f(op); }
inline int predefined_number(MPI_Datatype type) { return PMPI_Type_c2f(type); }
inline MPI_Op predefined_op(int number) { return PMPI_Op_f2c(number); }
inline MPI_Datatype predefined_type(int number) { return PMPI_Type_f2c(number); }

#endif

}  // namespace resprout::shim
