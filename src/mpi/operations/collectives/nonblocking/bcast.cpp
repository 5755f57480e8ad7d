// MPI_Ibcast and MPI_Bcast_init.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/datatypes/payload.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

class Broadcast final : public Collective {
 public:
  Broadcast(MPI_Comm comm, runtime::Session& session, void* buffer, const Layout& layout, int root)
      : Collective(session),
        buffer_(buffer),
        layout_(layout),
        root_(root),
        spec_(broadcast_spec(*communicator_of(comm))) {
    payload_ = {static_cast<const std::byte*>(nullptr), layout.packed_bytes};
    if (is_root()) payload_ = packed(buffer, layout, storage_);
    if (!is_root() && !layout.is_dense) leave_mpi_to_program();
  }

  bool uses(MPI_Datatype datatype) const override { return layout_.datatype == datatype; }

 private:
  bool is_root() const { return rank() == root_; }
  void begin(runtime::Started& started) override { started.broadcast(spec_, root_, payload_); }
  void take(std::span<const std::byte> result) override {
    if (!is_root()) code_ = take_payload(result, buffer_, layout_);
  }
  int code() const override { return code_; }

  void* buffer_;
  const Layout layout_;
  const int root_;
  const runtime::BroadcastSpec spec_;
  std::vector<std::byte> storage_;
  std::span<const std::byte> payload_;
  int code_ = MPI_SUCCESS;
};

Startable bcast(void* buffer, int count, MPI_Datatype datatype, int root) {
  const auto make = [=](MPI_Comm comm, runtime::Session& session) -> std::shared_ptr<Collective> {
    const bool is_valid =
        is_valid_buffer(count, datatype) && root >= 0 && root < session.everybody().size();
    if (!is_valid) return nullptr;
    return std::make_shared<Broadcast>(comm, session, buffer, layout_of(datatype, count), root);
  };
  return {make, sides_of::bcast(buffer, count, datatype, root)};
}

}  // namespace

extern "C" int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          MPI_Request* request) {
  return start_collective(comm, "ibcast", request, bcast(buffer, count, datatype, root), [&] {
    return PMPI_Ibcast(buffer, count, datatype, root, comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "bcast_init", request, bcast(buffer, count, datatype, root), [&] {
    return PMPI_Bcast_init(buffer, count, datatype, root, comm, info, request);
  });
}

#endif
