// Which protocol, with which parameters, carries which operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocols/corrected_tree/config.hpp"
#include "runtime/operation.hpp"

namespace resprout::runtime {

struct ReduceSpec {
  std::int32_t radix = 2;  // of the k-nomial tree
};

struct BroadcastSpec {
  topology::Shape shape = topology::Shape::binomial;  // grown: a Lame tree of order `arity`
  topology::Numbering numbering = topology::Numbering::interleaved;
  std::int32_t arity = 2;
  protocols::CorrectionRules correction{.kind = protocols::Correction::optimized_opportunistic,
                                        .distance = 1};
  protocols::EarlyPolicy early = protocols::EarlyPolicy::join;
};

std::unique_ptr<Operation> make_allreduce(Operation::Setup setup, const ReduceSpec& spec);
std::unique_ptr<Operation> make_reduce(Operation::Setup setup, const ReduceSpec& spec, Rank root);
std::unique_ptr<Operation> make_broadcast(Operation::Setup setup, const BroadcastSpec& spec,
                                          Rank root);

}  // namespace resprout::runtime
