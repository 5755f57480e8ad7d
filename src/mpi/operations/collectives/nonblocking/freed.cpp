// What a program may free while collectives that need it are under way: MPI keeps it until then,
// and so do we.
#include <mpi.h>

#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/operators/bearers.hpp"

using namespace resprout::shim;

extern "C" int MPI_Type_free(MPI_Datatype* datatype) {
  if (datatype == nullptr) return PMPI_Type_free(datatype);
  if (!is_kept(*datatype)) {
    note_freed(*datatype);
    return PMPI_Type_free(datatype);
  }
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

extern "C" int MPI_Op_free(MPI_Op* op) {
  if (op == nullptr) return PMPI_Op_free(op);
  if (!is_kept(*op)) {
    note_freed(*op);
    return PMPI_Op_free(op);
  }
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
