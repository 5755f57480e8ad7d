// What the verification of replicas has counted, for the report.
#pragma once

#include <cstdint>

#include "runtime/replicas/verifier.hpp"

namespace resprout::shim {

struct VerificationFigures {
  runtime::Verifier::Figures votes;
  std::uint64_t skipped = 0;  // messages and collectives on communicators without a name
  runtime::LoadHistory::Means history;
  std::uint64_t checkpoints = 0;
  std::uint64_t returns = 0;  // so often has its plane gone back to one; rank 0 says it
};

}  // namespace resprout::shim
