// Plays Open MPI's Fortran library, which the MPI of the tests has not: what the tests call of it
// and Resprout does not stand in for. Like that library it calls PMPI_X.
#include <mpi.h>
#include <stdlib.h>

typedef MPI_Fint integer;

void mpi_error_class_(integer* code, integer* class, integer* ierror) {
  *ierror = PMPI_Error_class(*code, class);
}

void mpi_get_address_(void* location, MPI_Aint* address, integer* ierror) {
  *ierror = PMPI_Get_address(location, address);
}

void mpi_get_count_(integer* status, integer* datatype, integer* count, integer* ierror) {
  MPI_Status c_status;
  PMPI_Status_f2c(status, &c_status);
  *ierror = PMPI_Get_count(&c_status, PMPI_Type_f2c(*datatype), count);
}

void mpi_type_create_hindexed_(integer* count, integer* lengths, MPI_Aint* displacements,
                               integer* oldtype, integer* newtype, integer* ierror) {
  MPI_Datatype made;
  *ierror =
      PMPI_Type_create_hindexed(*count, lengths, displacements, PMPI_Type_f2c(*oldtype), &made);
  *newtype = PMPI_Type_c2f(made);
}

void mpi_type_commit_(integer* datatype, integer* ierror) {
  MPI_Datatype c_datatype = PMPI_Type_f2c(*datatype);
  *ierror = PMPI_Type_commit(&c_datatype);
}

void mpi_group_size_(integer* group, integer* size, integer* ierror) {
  *ierror = PMPI_Group_size(PMPI_Group_f2c(*group), size);
}

// Operators: one is enough.
static void (*operation)(void*, void*, integer*, integer*);

static void operate(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  integer fortran = PMPI_Type_c2f(*datatype);
  operation(in, inout, count, &fortran);
}

void mpi_op_create_(void (*function)(void*, void*, integer*, integer*), integer* commute,
                    integer* op, integer* ierror) {
  MPI_Op made;
  operation = function;
  *ierror = PMPI_Op_create(operate, *commute, &made);
  *op = PMPI_Op_c2f(made);
}

// Attributes: values are integers, not pointers.
typedef void copy_function(integer*, integer*, MPI_Aint*, MPI_Aint*, MPI_Aint*, integer*, integer*);
typedef void delete_function(integer*, integer*, MPI_Aint*, MPI_Aint*, integer*);
struct key {
  copy_function* copy;
  delete_function* delete;
  MPI_Aint extra;
};

static int copy_attribute(MPI_Comm comm, int number, void* extra, void* in, void* out, int* flag) {
  struct key* key = extra;
  integer fortran = PMPI_Comm_c2f(comm), ierror = MPI_SUCCESS;
  MPI_Aint value = (MPI_Aint)in;
  key->copy(&fortran, &number, &key->extra, &value, out, flag, &ierror);
  return ierror;
}

static int delete_attribute(MPI_Comm comm, int number, void* in, void* extra) {
  struct key* key = extra;
  integer fortran = PMPI_Comm_c2f(comm), ierror = MPI_SUCCESS;
  MPI_Aint value = (MPI_Aint)in;
  key->delete(&fortran, &number, &value, &key->extra, &ierror);
  return ierror;
}

void mpi_comm_create_keyval_(copy_function* copy, delete_function* delete, integer* number,
                             MPI_Aint* extra, integer* ierror) {
  struct key* key = malloc(sizeof *key);
  *key = (struct key){copy, delete, *extra};
  *ierror = PMPI_Comm_create_keyval(copy_attribute, delete_attribute, number, key);
}

void mpi_comm_set_attr_(integer* comm, integer* key, MPI_Aint* value, integer* ierror) {
  *ierror = PMPI_Comm_set_attr(PMPI_Comm_f2c(*comm), *key, (void*)*value);
}

void mpi_comm_get_attr_(integer* comm, integer* key, MPI_Aint* value, integer* flag,
                        integer* ierror) {
  *ierror = PMPI_Comm_get_attr(PMPI_Comm_f2c(*comm), *key, value, flag);
}
