// The experiments of Scalable Membership for other languages; see sim/membership/stabilization.hpp.
#include <string>

#include "bindings/refusal.hpp"
#include "bindings/resprout_sim.h"
#include "sim/logp/simulations.hpp"
#include "sim/membership/stabilization.hpp"
#include "topology/radix_tree.hpp"

using namespace resprout;

namespace {

// A second each, times all messages, is far from overflow.
constexpr std::int64_t time_max = 1'000'000'000;

bool is_time(std::int64_t value) { return value >= 0 && value <= time_max; }

// Empty: it can be simulated.
std::string defect(const resprout_stabilization_scene& scene) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  if (scene.procs < 2 || scene.procs > sim::memberships_max)
    return "procs: " + text(scene.procs) + " is not from 2 to " + text(sim::memberships_max);
  if (!topology::RadixTree::is_radix(scene.radix))
    return "radix: " + text(scene.radix) + " is not a power of two from 2 to 1024";
  if (scene.victim < 1 || scene.victim >= scene.procs)
    return "victim: " + text(scene.victim) + " is not from 1 to " + text(scene.procs - 1);
  if (scene.network < RESPROUT_NETWORK_UNIFORM || scene.network > RESPROUT_NETWORK_ETHERNET)
    return "network: " + text(scene.network) + " is not from 0 to 2";
  if (!is_time(scene.latency) || !is_time(scene.processing) || !is_time(scene.service) ||
      !is_time(scene.overhead))
    return "latency, processing, service and overhead are not all from 0 to a second";
  if (scene.service > scene.latency) return "service: it is longer than the latency";
  if (scene.talkers < 0 || scene.talkers >= scene.procs)
    return "talkers: " + text(scene.talkers) + " is not from 0 to " + text(scene.procs - 1);
  return {};
}

}  // namespace

int resprout_stabilize(const resprout_stabilization_scene* scene, resprout_stabilized* found) {
  if (std::string wrong = defect(*scene); !wrong.empty()) {
    bindings::refuse(std::move(wrong));
    return 1;
  }
  const sim::Stabilization result =
      sim::stabilize({.procs = static_cast<std::int32_t>(scene->procs),
                      .radix = static_cast<std::int32_t>(scene->radix),
                      .victim = rank_at(static_cast<std::int32_t>(scene->victim)),
                      .network = static_cast<sim::NetworkKind>(scene->network),
                      .latency = scene->latency,
                      .processing = scene->processing,
                      .service = scene->service,
                      .talkers = static_cast<std::int32_t>(scene->talkers),
                      .overhead = scene->overhead});
  *found = {result.stabilized, result.installed, result.messages};
  return 0;
}

int64_t resprout_contention_latency(int64_t nodes, int64_t children, int64_t latency,
                                    int64_t service) {
  if (children < 1 || nodes <= children || nodes > sim::memberships_max || !is_time(latency) ||
      service < 0 || service > latency) {
    bindings::refuse(
        "nodes, children, latency, service: 1 <= children < nodes <= 4096, and "
        "0 <= service <= latency <= a second");
    return -1;
  }
  return sim::contention_latency(static_cast<std::int32_t>(nodes),
                                 static_cast<std::int32_t>(children), latency, service);
}
