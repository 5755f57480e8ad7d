// The list of the operations that the swarm can run.
#include "sim/swarm/protocols.hpp"

#include "registry/spec.hpp"

namespace resprout::sim {

void RunReport::add(const RunReport& other) {
  operations += other.operations;
  processes += other.processes;
  messages += other.messages;
  crashes += other.crashes;
  false_suspicions += other.false_suspicions;
  coordinator_crashes += other.coordinator_crashes;
  failures += other.failures;
  if (violation.empty()) violation = other.violation;
}

const std::array<SwarmProtocol, 20> swarm_protocols{{
    {"ftco-allreduce", run_allreduce},
    {"ftco-reduce", run_reduce},
    {"ftco-broadcast", run_ftco_broadcast},
    {"reliable-broadcast", run_reliable_broadcast},
    {"reliable-gossip", run_reliable_gossip},
    {"corrected-tree", run_corrected_tree},
    {"corrected-gossip", run_corrected_gossip},
    {"acknowledged-tree", run_acknowledged_tree},
    {"multi-tree", run_multi_tree},
    {"corrected-reduce", run_corrected_reduce},
    {"membership", run_membership},
    {"local-membership", run_local_membership},
    {"native-until-loss", run_native_until_loss},
    {"digest-vote", run_digest_vote},
    {"decision-log", run_decision_log},
    {"revoke", run_revoke},
    {"shared-slots", run_shared_slots},
    {"agree", run_agree},
    {"link-watch", run_links},
    {"patient-allreduce", run_patient_allreduce},
}};

const SwarmProtocol* find_swarm_protocol(const std::string& name) {
  for (const SwarmProtocol& protocol : swarm_protocols)
    if (registry::current_name(name) == protocol.name) return &protocol;
  return nullptr;
}

std::string swarm_protocol_names() {
  std::string names;
  for (const SwarmProtocol& protocol : swarm_protocols)
    names += (names.empty() ? "" : ", ") + std::string(protocol.name);
  return names;
}

}  // namespace resprout::sim
