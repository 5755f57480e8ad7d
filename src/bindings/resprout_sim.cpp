// The C interface: arguments in and structures out, all else is sim/logp/simulation.hpp.
#include "bindings/resprout_sim.h"

#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/refusal.hpp"
#include "core/invariant.hpp"
#include "registry/spec.hpp"
#include "sim/exact/exact_broadcast.hpp"
#include "sim/logp/simulation.hpp"
#include "sim/revoke/initiators.hpp"

using namespace resprout;

struct resprout_simulation {
  sim::Machinery machinery;
  std::unique_ptr<sim::Simulation> simulation;
  std::mutex mutex;
  std::string faults_text;  // of the last runs
  std::optional<sim::Faults> faults;
  std::vector<resprout_traced_message> messages;
  std::vector<resprout_traced_event> events;
  std::vector<resprout_traced_death> deaths;
};

namespace {

thread_local std::string last_refusal;

// The value, or null: refused.
template <typename T>
T* accept(std::variant<T, std::string>& answer) {
  if (auto* wrong = std::get_if<std::string>(&answer)) last_refusal = std::move(*wrong);
  return std::get_if<T>(&answer);
}

// A C string that lives as long as the library.
const char* keep(std::string_view text) {
  static std::deque<std::string> kept;
  return kept.emplace_back(text).c_str();
}

struct ProtocolList {
  std::vector<std::vector<resprout_option>> options;
  std::vector<resprout_protocol> protocols;

  ProtocolList() {
    for (const registry::Protocol& protocol : registry::all_protocols()) {
      auto& own = options.emplace_back();
      for (const registry::Option& option : protocol.options)
        own.push_back(
            {keep(option.name), keep(option.values), keep(option.fallback), keep(option.help)});
      protocols.push_back({keep(protocol.name), keep(protocol.operation), keep(protocol.summary),
                           own.data(), own.size()});
    }
  }
};

// Out of range for a rank is out of range for all that follows; -1 lets it say so.
std::int32_t narrow(std::int64_t number) {
  return static_cast<std::int32_t>(number < 0 || number > INT32_MAX ? -1 : number);
}

std::int64_t ticks(const std::optional<Time>& time) { return time ? time->ticks : RESPROUT_NONE; }

void copy_trace(const sim::Trace& trace, const std::vector<sim::Death>& deaths,
                resprout_simulation& to) {
  to.messages.clear();
  to.events.clear();
  to.deaths.clear();
  for (const auto& [message, flight] : trace.messages)
    to.messages.push_back({index(message.from), index(message.to), sim::name_of(message.kind),
                           flight.sent.ticks, flight.arrived.ticks,
                           flight.received == never ? RESPROUT_NONE : flight.received.ticks});
  for (const sim::Trace::Said& said : trace.events)
    to.events.push_back({said.at.ticks, index(said.rank), sim::name_of(said.kind)});
  for (const sim::Death& death : deaths) to.deaths.push_back({death.at.ticks, index(death.rank)});
}

std::optional<sim::Machinery> machinery_of(const char* spec, const resprout_machine& machine) {
  auto parsed = registry::parse(spec);
  const registry::Spec* const valid = accept(parsed);
  if (valid == nullptr) return std::nullopt;
  auto late = sim::parse_entries(machine.late);
  const sim::Entries* const entries = accept(late);
  if (entries == nullptr) return std::nullopt;
  auto noise = sim::parse_noise(machine.noise);
  const sim::NoiseMean* const mean = accept(noise);
  if (mean == nullptr) return std::nullopt;
  return sim::Machinery{.spec = *valid,
                        .procs = narrow(machine.procs),
                        .model = {machine.latency, machine.overhead, machine.gap, *mean},
                        .root = rank_at(narrow(machine.root)),
                        .wants_trace = machine.wants_trace != 0,
                        .wants_digest = machine.wants_digest != 0,
                        .entries = *entries,
                        .initiators = machine.initiators};
}

// One that Simulation::make would accept.
std::optional<sim::Machinery> sound_machinery_of(const char* spec,
                                                 const resprout_machine& machine) {
  auto machinery = machinery_of(spec, machine);
  if (!machinery) return std::nullopt;
  std::string wrong = sim::Simulation::defect(*machinery);
  if (wrong.empty()) return machinery;
  last_refusal = std::move(wrong);
  return std::nullopt;
}

using Deaths = std::vector<sim::Death>;

// The simulator of FTCO's authors is followed only while nobody fails.
bool bears_deaths(const sim::Machinery& machinery) {
  if (machinery.spec.plan != registry::Plan::none) {
    last_refusal = "faults: the operations of a plan bear none; give none, and no fail-at";
    return false;
  }
  if (machinery.spec.polling != registry::Polling::simulated) return true;
  last_refusal = "faults: with polling=simulated nobody dies; give none, and no fail-at";
  return false;
}

// Those of `fail_at`; nothing: refused.
std::optional<Deaths> late_deaths(const sim::Machinery& machinery, const char* const* fail_at,
                                  size_t count) {
  auto parsed =
      sim::parse_deaths(std::vector<std::string>(fail_at, fail_at + count), machinery.procs);
  Deaths* const deaths = accept(parsed);
  if (deaths == nullptr || (!deaths->empty() && !bears_deaths(machinery))) return std::nullopt;
  return std::move(*deaths);
}

// An operation cannot be begun by a dead root; an allreduce and replicas have none, a
// membership another one. To a root that dies as it begins nothing is wrong: fail-at has it.
bool is_dead_root(const sim::Machinery& machinery, const sim::Faults& faults) {
  if (machinery.spec.protocol == registry::ProtocolId::revoke &&
      machinery.initiators != sim::root_revokes)
    return false;
  return !registry::is_allreduce(machinery.spec.protocol) &&
         machinery.spec.protocol != registry::ProtocolId::membership &&
         machinery.spec.protocol != registry::ProtocolId::digest_vote &&
         machinery.spec.protocol != registry::ProtocolId::decision_log &&
         faults.names(machinery.root);
}

// Those that are dead from the beginning, by seed; nothing: refused.
std::optional<sim::Faults> faults_of(const sim::Machinery& machinery, const char* text) {
  auto parsed = sim::Faults::parse(text, machinery.procs, machinery.root);
  sim::Faults* const faults = accept(parsed);
  if (faults == nullptr || (!faults->are_none() && !bears_deaths(machinery))) return std::nullopt;
  if (is_dead_root(machinery, *faults)) {
    const std::string root = std::to_string(index(machinery.root));
    last_refusal = "faults: '" + std::string(text) + "' has the root, " + root +
                   ", among the dead; a root that dies is given as fail-at " + root + "@0";
    return std::nullopt;
  }
  return std::move(*faults);
}

resprout_run measured(const sim::Result& result, const sim::Machinery& machinery) {
  return {.coloring_latency = ticks(result.coloring_latency),
          .quiescence_latency = result.totals.quiescence.ticks,
          .correction_start = ticks(result.correction_start),
          .messages = result.totals.messages,
          .g_max = result.g_max.value_or(RESPROUT_NONE),
          .uncolored = result.uncolored,
          .contributors = result.contributors.value_or(RESPROUT_NONE),
          .completion_latency = ticks(result.completion_latency),
          .output_spread = result.output_spread.value_or(RESPROUT_NONE),
          .longest_queue = result.longest_queue.value_or(RESPROUT_NONE),
          .keepalives = result.keepalives.value_or(RESPROUT_NONE),
          .false_suspicions = result.false_suspicions.value_or(RESPROUT_NONE),
          .trace_digest = machinery.wants_digest ? result.totals.digest : 0};
}

}  // namespace

void bindings::refuse(std::string why) { last_refusal = std::move(why); }

const char* resprout_refusal(void) { return last_refusal.c_str(); }

const resprout_protocol* resprout_protocols(size_t* count) {
  static const ProtocolList list;
  *count = list.protocols.size();
  return list.protocols.data();
}

int resprout_check_spec(const char* spec) {
  auto answer = registry::parse(spec);
  return accept(answer) == nullptr ? 1 : 0;
}

int resprout_check_simulation(const char* spec, const resprout_machine* machine, const char* faults,
                              const char* const* fail_at, size_t fail_at_count) {
  const auto machinery = sound_machinery_of(spec, *machine);
  if (!machinery) return 1;
  const auto later = late_deaths(*machinery, fail_at, fail_at_count);
  if (!later) return 1;
  return faults_of(*machinery, faults) ? 0 : 1;
}

int resprout_is_computed(const char* spec, const resprout_machine* machine,
                         const char* const* fail_at, size_t fail_at_count) {
  const auto machinery = sound_machinery_of(spec, *machine);
  if (!machinery) return -1;
  const auto later = late_deaths(*machinery, fail_at, fail_at_count);
  if (!later) return -1;
  const bool is_computed = !machinery->wants_digest && sim::ExactBroadcast::is_for(*machinery) &&
                           sim::ExactBroadcast::supports(*later);
  return is_computed ? 1 : 0;
}

resprout_simulation* resprout_simulation_new(const char* spec, const resprout_machine* machine) {
  const auto machinery = machinery_of(spec, *machine);
  if (!machinery) return nullptr;
  auto answer = sim::Simulation::make(*machinery);
  auto* const simulation = accept(answer);
  if (simulation == nullptr) return nullptr;
  auto* const made = new resprout_simulation;
  made->machinery = *machinery;
  made->simulation = std::move(*simulation);
  return made;
}

void resprout_simulation_free(resprout_simulation* simulation) { delete simulation; }

int resprout_simulation_run(resprout_simulation* simulation, const char* faults,
                            const char* const* fail_at, size_t fail_at_count, uint64_t seed,
                            resprout_run* run) {
  return resprout_simulation_run_many(simulation, faults, fail_at, fail_at_count, seed, 1, run);
}

int resprout_simulation_run_many(resprout_simulation* simulation, const char* faults,
                                 const char* const* fail_at, size_t fail_at_count,
                                 uint64_t first_seed, size_t count, resprout_run* runs) {
  const sim::Machinery& machinery = simulation->machinery;
  const auto later = late_deaths(machinery, fail_at, fail_at_count);
  if (!later) return 1;
  const std::lock_guard lock(simulation->mutex);
  if (!simulation->faults || simulation->faults_text != faults) {
    simulation->faults = faults_of(machinery, faults);
    simulation->faults_text = faults;
  }
  if (!simulation->faults) return 1;
  Deaths deaths;
  for (size_t i = 0; i < count; ++i) {
    const auto drawn = simulation->faults->of(first_seed + i);
    deaths.assign(drawn.begin(), drawn.end());
    deaths.insert(deaths.end(), later->begin(), later->end());
    const sim::Result result = simulation->simulation->run(deaths, first_seed + i);
    if (machinery.wants_trace && i + 1 == count) copy_trace(result.trace, deaths, *simulation);
    runs[i] = measured(result, machinery);
  }
  return 0;
}

const resprout_traced_message* resprout_simulation_messages(const resprout_simulation* simulation,
                                                            size_t* count) {
  *count = simulation->messages.size();
  return simulation->messages.data();
}

const resprout_traced_event* resprout_simulation_events(const resprout_simulation* simulation,
                                                        size_t* count) {
  *count = simulation->events.size();
  return simulation->events.data();
}

const resprout_traced_death* resprout_simulation_deaths(const resprout_simulation* simulation,
                                                        size_t* count) {
  *count = simulation->deaths.size();
  return simulation->deaths.data();
}

void resprout::say_broken(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "resprout: a defect of Resprout: at %s:%d this does not hold: %s\n", file,
               line, condition);
}
