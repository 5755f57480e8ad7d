// MPI_Ibarrier and MPI_Barrier_init.
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/under_way.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

class Barrier final : public Collective {
 public:
  explicit Barrier(runtime::Session& session) : Collective(session) {}

 private:
  void begin(runtime::Started& started) override { started.barrier(); }
  void take(std::span<const std::byte>) override {}
};

std::shared_ptr<Collective> make(MPI_Comm, runtime::Session& session) {
  return std::make_shared<Barrier>(session);
}

}  // namespace

extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return start_collective(comm, "ibarrier", request, {make},
                          [&] { return PMPI_Ibarrier(comm, request); });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "barrier_init", request, {make},
                         [&] { return PMPI_Barrier_init(comm, info, request); });
}

#endif
