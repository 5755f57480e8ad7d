#include "shim/collectives/specs.hpp"

#include <variant>

#include "registry/spec.hpp"
#include "registry/trees.hpp"

namespace resprout::shim {
namespace {

using registry::ProtocolId;
using registry::Spec;
using registry::TreeKind;

// From this size on a broadcast does not send its payload to those who have it already: no
// correction; who is left without asks the root.
constexpr std::size_t correction_bytes_max = std::size_t{16} << 10;

struct Chosen {
  runtime::ReduceSpec reduce;
  runtime::BroadcastSpec small;
  runtime::BroadcastSpec large;
};

Chosen& chosen() {
  static Chosen instance = [] {
    Chosen defaults;
    defaults.large.correction.kind = protocols::Correction::none;
    return defaults;
  }();
  return instance;
}

bool is_grown(TreeKind tree) { return tree == TreeKind::lame || tree == TreeKind::optimal; }

std::string choose_broadcast(const std::string& text) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return "RESPROUT_BCAST: " + *error;
  const Spec spec = std::get<Spec>(parsed);
  if (spec.protocol != ProtocolId::corrected_tree &&
      spec.protocol != ProtocolId::reliable_broadcast)
    return "RESPROUT_BCAST: '" + text +
           "' is no broadcast; valid protocols: corrected-tree, reliable-broadcast";
  // Synchronized is the simulator's default; here nobody means it who does not say it.
  if (text.find("start=synchronized") != std::string::npos)
    return "RESPROUT_BCAST: option start: 'synchronized' needs a clock that all processes share, "
           "which only the simulator has; valid here: overlapped";
  if (is_grown(spec.tree))
    return "RESPROUT_BCAST: option tree: lame and optimal trees are for the simulator; valid here: "
           "binomial, kary, knomial";
  runtime::BroadcastSpec& small = chosen().small;
  small.shape = registry::shape_of(spec.tree);
  small.numbering = spec.numbering;
  small.arity = spec.k;
  small.correction = spec.correction;
  small.early = spec.early;
  chosen().large = small;
  chosen().large.correction.kind = protocols::Correction::none;
  return {};
}

std::string choose_allreduce(const std::string& text) {
  const auto parsed = registry::parse(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) return "RESPROUT_ALLREDUCE: " + *error;
  const Spec spec = std::get<Spec>(parsed);
  if (spec.protocol != ProtocolId::ftco_allreduce)
    return "RESPROUT_ALLREDUCE: '" + text + "' is no allreduce; valid protocols: ftco-allreduce";
  chosen().reduce.radix = spec.k;
  return {};
}

}  // namespace

std::string choose_specs(const Options& options) {
  std::string error;
  if (!options.bcast.empty()) error = choose_broadcast(options.bcast);
  if (error.empty() && !options.allreduce.empty()) error = choose_allreduce(options.allreduce);
  return error;
}

const runtime::ReduceSpec& reduce_spec() { return chosen().reduce; }

const runtime::BroadcastSpec& broadcast_spec(std::size_t bytes) {
  return bytes <= correction_bytes_max ? chosen().small : chosen().large;
}

}  // namespace resprout::shim
