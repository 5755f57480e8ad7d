#include "mpi/process/names.hpp"

#include <cctype>

namespace resprout::shim {

std::string mpi_name_of(const char* call) {
  std::string name = std::string("MPI_") + call;
  name[4] = static_cast<char>(std::toupper(name[4]));
  return name;
}

std::string name_of_communicator(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return name;
}

}  // namespace resprout::shim
