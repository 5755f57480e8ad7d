// MPI_Ibarrier and MPI_Barrier_init.
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/start_small.hpp"
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

struct BarrierArguments {
  static bool are_valid(const runtime::Session&) { return true; }
  static SlotWay way(const runtime::Session&) { return {.kind = Kind::barrier}; }
  static std::span<const std::byte> given(const runtime::Session&, std::vector<std::byte>&) {
    return {};
  }
  static int take(const runtime::Session&, std::span<const Brought>) { return MPI_SUCCESS; }
  static std::shared_ptr<Collective> make(MPI_Comm, runtime::Session& session) {
    return std::make_shared<Barrier>(session);
  }
  static bool is_for_program(const runtime::Session&) { return false; }
  static bool use(MPI_Datatype) { return false; }
};

}  // namespace

extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (maybe_start_at_head(comm, "ibarrier", request, BarrierArguments())) return MPI_SUCCESS;
  return start_collective(comm, "ibarrier", request, {make_collective(BarrierArguments())},
                          [&] { return PMPI_Ibarrier(comm, request); });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "barrier_init", request, {make_collective(BarrierArguments())},
                         [&] { return PMPI_Barrier_init(comm, info, request); });
}

#endif
