// Which protocol, with which parameters, carries which operation.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/operation.hpp"

namespace resprout::runtime {

struct ReduceSpec {
  int radix = 2;  // of the k-nomial tree
};

struct BroadcastSpec {};

std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec);
std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root);
// `bytes`: of the payload, known to all members.
std::unique_ptr<Operation> make_broadcast(Operation::Setup setup, const BroadcastSpec& spec,
                                          Rank root, std::size_t bytes);

}  // namespace resprout::runtime
