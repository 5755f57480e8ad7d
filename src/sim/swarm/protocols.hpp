// The operations that the swarm can run, each drawn from a seed. `trace` may be null.
// Thread rule: no shared state.
#pragma once

#include <cstdint>
#include <ostream>

#include "sim/swarm/run.hpp"

namespace resprout::sim {

RunReport run_allreduce(std::uint64_t seed, std::ostream* trace);
RunReport run_ftco_broadcast(std::uint64_t seed, std::ostream* trace);
RunReport run_reduce(std::uint64_t seed, std::ostream* trace);
RunReport run_corrected_reduce(std::uint64_t seed, std::ostream* trace);
RunReport run_corrected_tree(std::uint64_t seed, std::ostream* trace);
RunReport run_reliable_broadcast(std::uint64_t seed, std::ostream* trace);
RunReport run_reliable_gossip(std::uint64_t seed, std::ostream* trace);
RunReport run_corrected_gossip(std::uint64_t seed, std::ostream* trace);
RunReport run_acknowledged_tree(std::uint64_t seed, std::ostream* trace);
RunReport run_multi_tree(std::uint64_t seed, std::ostream* trace);
RunReport run_membership(std::uint64_t seed, std::ostream* trace);
RunReport run_local_membership(std::uint64_t seed, std::ostream* trace);
RunReport run_native_until_loss(std::uint64_t seed, std::ostream* trace);
RunReport run_digest_vote(std::uint64_t seed, std::ostream* trace);
RunReport run_decision_log(std::uint64_t seed, std::ostream* trace);
RunReport run_revoke(std::uint64_t seed, std::ostream* trace);
RunReport run_shared_slots(std::uint64_t seed, std::ostream* trace);
RunReport run_links(std::uint64_t seed, std::ostream* trace);
RunReport run_patient_allreduce(std::uint64_t seed, std::ostream* trace);
RunReport run_agree(std::uint64_t seed, std::ostream* trace);

}  // namespace resprout::sim
