// The FTCO operations that specs ask for.
// Thread rule: pure functions.
#pragma once

#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "registry/spec.hpp"

namespace resprout::registry {

// REQUIRES: the spec is of an FTCO protocol; 0 <= root < procs.
protocols::FtcoAllreduceConfig ftco_config(const Spec& spec, std::int32_t procs, Rank root);

}  // namespace resprout::registry
