#include "mpi/carriers/slices.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/offered_memory.hpp"

#include "mpi/carriers/specs.hpp"
#include "runtime/collectives.hpp"

namespace resprout::shim {
namespace {

// Slices of less than this cost more messages than they save.
constexpr std::size_t slice_bytes_min = std::size_t{64} << 10;
constexpr int slices_max = 8;
// What all members together read and write of a round stays in their caches.
constexpr std::size_t round_bytes = std::size_t{256} << 10;

}  // namespace

Slicing slicing_of(int members, std::size_t bytes) {
  Slicing slicing;
  slicing.rounds = static_cast<int>(std::max<std::size_t>(1, bytes / round_bytes));
  const std::size_t most = bytes / static_cast<std::size_t>(slicing.rounds) / slice_bytes_min;
  slicing.slices = std::clamp(static_cast<int>(most), 1, std::min(members, slices_max));
  return slicing;
}

SlicedReduction::SlicedReduction(const Reduction& reduction, const void* input, int parts) {
  const Layout& whole = reduction.layout();
  combiners_.reserve(static_cast<std::size_t>(parts));  // slices refer to them
  const auto* at = static_cast<const std::byte*>(input);
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t before = whole.count * i / parts;
    const std::int64_t after = whole.count * (i + 1) / parts;
    const Layout part = layout_of(whole.datatype, after - before);
    parts_.push_back({{at, part.packed_bytes}, &combiners_.emplace_back(reduction.op(), part)});
    at += part.packed_bytes;
  }
}

int SlicedReduction::code() const {
  for (const MpiCombiner& combiner : combiners_)
    if (combiner.code() != MPI_SUCCESS) return combiner.code();
  return MPI_SUCCESS;
}

// Rounds that lack a member whom earlier ones had are no use: then all begin again, without it.
int allreduce_in_slices(CollectiveCall& call, const Reduction& reduction, const Slicing& slicing,
                        const void* sendbuf, void* recvbuf) {
  runtime::Lock& lock = call.lock();
  runtime::Session& session = call.session();
  const SavedInput saved(slicing.rounds > 1 ? sendbuf : nullptr, recvbuf, reduction.layout());
  const void* input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const SlicedReduction sliced(reduction, input, slicing.rounds * slicing.slices);
  const auto slices = static_cast<std::size_t>(slicing.slices);
  const auto& spec = reduce_spec(session, sliced.parts().front().input.size());
  runtime::Outcome outcome;
  std::size_t done = 0;  // parts
  int members = 0;       // whose contributions are in them
  while (done < sliced.parts().size()) {
    auto* at = static_cast<std::byte*>(recvbuf) +
               (sliced.parts()[done].input.data() - sliced.parts().front().input.data());
    const runtime::Outcome round = session.allreduce_in_slices(
        lock, spec, sliced.parts().subspan(done, slices), [&](std::span<const std::byte> result) {
          if (session.is_revoked()) return;
          // The only contribution to a sum in place is its result.
          if (at != result.data()) runtime::copy_bytes(at, result.data(), result.size());
          at += result.size();
        });
    outcome = outcome + round;
    if (session.is_revoked()) break;
    const bool is_first = done == 0;
    if (round.is_delivered && (is_first || session.members().size() == members)) {
      done += slices;
    } else if (!is_first) {
      saved.restore();
      done = 0;
    }
    members = session.members().size();
  }
  return call.finish(outcome, sliced.code());
}

int broadcast_large(CollectiveCall& call, void* buffer, const Layout& layout, int root) {
  std::vector<std::byte> storage;
  std::span<std::byte> memory{static_cast<std::byte*>(buffer), layout.packed_bytes};
  const bool is_root = call.rank() == root;
  if (is_root) {
    const auto payload = packed(buffer, layout, storage);
    memory = {const_cast<std::byte*>(payload.data()), payload.size()};
  } else if (!layout.is_dense) {
    storage.resize(layout.packed_bytes);
    memory = storage;
  }
  runtime::SystemMemoryReader reader;
  runtime::Session& session = call.session();
  const runtime::Outcome outcome =
      runtime::broadcast_large(session, call.lock(), broadcast_spec(call.communicator()),
                               reduce_spec(session, 1), root, memory, reader);
  if (outcome.is_delivered && !is_root && !layout.is_dense) unpack(storage, buffer, layout);
  return call.finish(outcome);
}

}  // namespace resprout::shim
