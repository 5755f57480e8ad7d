// What a plane that was lost and started again is given by the others at a checkpoint: what is
// protected, and what else has to be the same in all planes.
//
// Thread rule: functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/policies/regions.hpp"

namespace resprout::shim {

struct Handover {
  std::uint64_t checkpoints = 0;  // that were taken before
  NamedChildren communicators;
};

std::vector<std::byte> hand_over(const Handover& given, const Regions& regions);
// Puts what is protected there into `regions`. Nothing: it is not the same that is protected here,
// or not what was given; what is in the regions then is of no use.
std::optional<Handover> take_over(std::span<const std::byte> given, Regions& regions);

}  // namespace resprout::shim
