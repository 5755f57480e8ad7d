// MPI_Ibcast and MPI_Bcast_init.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/start_small.hpp"
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

struct BroadcastArguments {
  void* buffer;
  int count;
  MPI_Datatype datatype;
  int root;

  bool are_valid(const runtime::Session& session) const {
    return buffer != MPI_IN_PLACE && is_valid_buffer(count, datatype) && root >= 0 &&
           root < session.everybody().size();
  }
  Layout layout() const { return layout_of(datatype, count); }
  bool is_root(const runtime::Session& session) const {
    return session.everybody().comm_rank(session.everybody().self()) == root;
  }
  SlotWay way(const runtime::Session&) const {
    return {.form = SlotWay::Form::broadcast,
            .kind = Kind::broadcast,
            .bytes = layout().packed_bytes,
            .root = root};
  }
  std::span<const std::byte> given(const runtime::Session& session,
                                   std::vector<std::byte>& storage) const {
    if (!is_root(session)) return {};
    return packed(buffer, layout(), storage);
  }
  int take(const runtime::Session& session, std::span<const Brought> all) const {
    if (is_root(session)) return MPI_SUCCESS;
    return take_payload(all.front().data, buffer, layout());
  }
  std::shared_ptr<Collective> make(MPI_Comm comm, runtime::Session& session) const {
    return std::make_shared<Broadcast>(comm, session, buffer, layout(), root);
  }
  bool is_for_program(const runtime::Session&) const { return !layout().is_dense; }
  bool use(MPI_Datatype other) const { return datatype == other; }
};

Startable bcast(const BroadcastArguments& arguments) {
  const auto& [buffer, count, datatype, root] = arguments;
  return {make_collective(arguments), call_data_of::bcast(buffer, count, datatype, root)};
}

}  // namespace

extern "C" int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          MPI_Request* request) {
  const BroadcastArguments arguments{buffer, count, datatype, root};
  if (maybe_start_at_head(comm, "ibcast", request, arguments)) return MPI_SUCCESS;
  return start_collective(comm, "ibcast", request, bcast(arguments), [&] {
    return PMPI_Ibcast(buffer, count, datatype, root, comm, request);
  });
}

#if RESPROUT_HAS_PERSISTENT_COLLECTIVES

extern "C" int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return init_collective(comm, "bcast_init", request, bcast({buffer, count, datatype, root}), [&] {
    return PMPI_Bcast_init(buffer, count, datatype, root, comm, info, request);
  });
}

#endif
