// Neighborhood collectives, in all forms, without the MPI library: an exchange among all members
// (exchange.hpp), in which each has blocks for its neighbors.
//
// Whose neighbor is lost gets nothing from it, and what is in the buffer stays.
#pragma once

#include <vector>

#include "mpi/carriers/exchanges/exchange.hpp"
#include "mpi/handles/communicators/neighbors.hpp"
#include "mpi/policies/call_data.hpp"

namespace resprout::shim {

class NeighborExchange final : public BlockExchange {
 public:
  // `call_data`: what a call says of its neighbors, which are these. REQUIRES: its pattern's kind
  // is `neighbors`.
  NeighborExchange(runtime::Session& session, const Neighbors& neighbors, CallData call_data);

  bool uses(MPI_Datatype datatype) const override;

 private:
  void take_from(int rank, std::span<const std::byte> block) override;
  runtime::Buffer row_for(const Neighbors& neighbors) const;

  const CallData call_data_;
};

}  // namespace resprout::shim
