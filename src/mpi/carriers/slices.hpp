// Much data in slices: an allreduce in slices that different ranks collect at the same time, and in
// rounds that fit into caches; a broadcast out of the root's memory, or in slices, too:
// docs/explanation/protocols/slices.md.
#pragma once

#include <span>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

struct Slicing {
  int rounds = 1;
  int slices = 1;  // of a round
};

// How an allreduce with so much data among so many members goes best.
Slicing slicing_of(int members, std::size_t bytes);

// A reduction in parts of about as many elements each.
class SlicedReduction {
 public:
  // REQUIRES: reduction.can_be_sliced().
  SlicedReduction(const Reduction& reduction, const void* input, int parts);

  std::span<const runtime::Slice> parts() const { return parts_; }
  // MPI_SUCCESS, or what MPI_Reduce_local said.
  int code() const;

 private:
  std::vector<MpiCombiner> combiners_;
  std::vector<runtime::Slice> parts_;
};

// What the call returns. REQUIRES: reduction.can_be_sliced().
int allreduce_in_slices(CollectiveCall& call, const Reduction& reduction, const Slicing& slicing,
                        const void* sendbuf, void* recvbuf);

// From this size on.
inline constexpr std::size_t large_broadcast_min = std::size_t{256} << 10;

// What the call returns. REQUIRES: all members are on one host.
int broadcast_large(CollectiveCall& call, void* buffer, const Layout& layout, int root);

}  // namespace resprout::shim
