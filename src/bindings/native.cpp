// The Python module resprout._native: the list of protocols, and simulations of them.
//
// What Python sees is written down in python/resprout/_native.pyi. Wrong arguments become
// ValueError with the one line that the core gave. Thread rule: simulations run without the GIL;
// one of them serves one thread at a time.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <mutex>

#include "sim/logp/simulation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace resprout;

// The value, or ValueError.
template <typename T>
T expect(std::variant<T, std::string> answer) {
  if (const auto* wrong = std::get_if<std::string>(&answer)) throw nb::value_error(wrong->c_str());
  return std::get<T>(std::move(answer));
}

nb::object ticks(const std::optional<Time>& time) {
  return time ? nb::object(nb::int_(time->ticks)) : nb::none();
}

nb::dict trace_dict(const sim::Trace& trace) {
  nb::list messages;
  for (const auto& [message, flight] : trace.messages) {
    nb::dict entry;
    entry["from"] = index(message.from);
    entry["to"] = index(message.to);
    entry["kind"] = std::string(sim::name_of(message.kind));
    entry["sent"] = flight.sent.ticks;
    entry["arrived"] = flight.arrived.ticks;
    entry["received"] =
        ticks(flight.received == never ? std::nullopt : std::optional(flight.received));
    messages.append(entry);
  }
  nb::list events;
  for (const sim::Trace::Said& said : trace.events) {
    nb::dict entry;
    entry["at"] = said.at.ticks;
    entry["rank"] = index(said.rank);
    entry["kind"] = std::string(sim::name_of(said.kind));
    events.append(entry);
  }
  nb::dict all;
  all["messages"] = messages;
  all["events"] = events;
  return all;
}

class PySimulation {
 public:
  PySimulation(std::string spec, std::int64_t procs, std::int64_t latency, std::int64_t overhead,
               std::int64_t gap, std::int64_t root, bool trace)
      : spec_(std::move(spec)) {
    machinery_.spec = expect(registry::parse(spec_));
    // Out of range for a rank is out of range for all that follows; -1 lets it say so.
    const auto narrow = [](std::int64_t number) {
      return static_cast<std::int32_t>(number < 0 || number > INT32_MAX ? -1 : number);
    };
    machinery_.procs = narrow(procs);
    machinery_.model = {latency, overhead, gap};
    machinery_.root = rank_at(narrow(root));
    machinery_.wants_trace = trace;
    simulation_ = expect(sim::Simulation::make(machinery_));
  }

  nb::dict run(const std::string& faults, const std::vector<std::string>& fail_at,
               std::uint64_t seed) {
    auto deaths = expect(sim::parse_faults(faults, machinery_.procs, machinery_.root, seed));
    const auto later = expect(sim::parse_deaths(fail_at, machinery_.procs));
    deaths.insert(deaths.end(), later.begin(), later.end());
    sim::Result result;
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      result = simulation_->run(deaths);
    }
    return to_dict(result, faults, seed);
  }

 private:
  nb::dict to_dict(const sim::Result& result, const std::string& faults, std::uint64_t seed) const {
    nb::dict dict;
    dict["protocol"] = spec_;
    dict["procs"] = machinery_.procs;
    dict["latency"] = machinery_.model.latency;
    dict["overhead"] = machinery_.model.overhead;
    dict["seed"] = seed;
    dict["faults"] = faults;
    dict["coloring_latency"] = ticks(result.coloring_latency);
    dict["quiescence_latency"] = result.totals.quiescence.ticks;
    dict["correction_start"] = ticks(result.correction_start);
    dict["messages"] = result.totals.messages;
    dict["messages_per_process"] = static_cast<double>(result.totals.messages) / machinery_.procs;
    dict["g_max"] = result.g_max ? nb::object(nb::int_(*result.g_max)) : nb::none();
    dict["uncolored"] = result.uncolored;
    char digest[17];
    std::snprintf(digest, sizeof digest, "%016llx",
                  static_cast<unsigned long long>(result.totals.digest));
    dict["trace_digest"] = nb::str(digest);
    if (result.completion_latency) {
      dict["contributors"] =
          result.contributors ? nb::object(nb::int_(*result.contributors)) : nb::none();
      dict["completion_latency"] = ticks(result.completion_latency);
    }
    if (machinery_.wants_trace) dict["trace"] = trace_dict(result.trace);
    return dict;
  }

  std::string spec_;
  sim::Machinery machinery_;
  std::unique_ptr<sim::Simulation> simulation_;
  std::mutex mutex_;
};

nb::list protocol_list() {
  nb::list all;
  for (const registry::Protocol& protocol : registry::all_protocols()) {
    nb::list options;
    for (const registry::Option& option : protocol.options) {
      nb::dict entry;
      entry["name"] = std::string(option.name);
      entry["values"] = std::string(option.values);
      entry["default"] = std::string(option.fallback);
      entry["help"] = std::string(option.help);
      options.append(entry);
    }
    nb::dict entry;
    entry["name"] = std::string(protocol.name);
    entry["operation"] = std::string(protocol.operation);
    entry["summary"] = std::string(protocol.summary);
    entry["options"] = options;
    all.append(entry);
  }
  return all;
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "Resprout's protocols, and simulations of them";
  module.def("protocols", protocol_list, "All protocols with their options.");
  module.def(
      "check_spec", [](const std::string& spec) { expect(registry::parse(spec)); }, "spec"_a,
      "Raises ValueError with one line if the spec is wrong.");
  nb::class_<PySimulation>(module, "Simulation", "A protocol on a LogP machine, to be run often.")
      .def(nb::init<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                    std::int64_t, bool>(),
           "spec"_a, nb::kw_only(), "procs"_a, "latency"_a = 2, "overhead"_a = 1, "gap"_a = 0,
           "root"_a = 0, "trace"_a = false)
      .def("run", &PySimulation::run, nb::kw_only(), "faults"_a = "none",
           "fail_at"_a = std::vector<std::string>{}, "seed"_a = 0);
  module.def(
      "simulate",
      [](std::string spec, std::int64_t procs, std::int64_t latency, std::int64_t overhead,
         std::int64_t gap, const std::string& faults, const std::vector<std::string>& fail_at,
         std::uint64_t seed, std::int64_t root, bool trace) {
        PySimulation simulation(std::move(spec), procs, latency, overhead, gap, root, trace);
        return simulation.run(faults, fail_at, seed);
      },
      "spec"_a, nb::kw_only(), "procs"_a, "latency"_a = 2, "overhead"_a = 1, "gap"_a = 0,
      "faults"_a = "none", "fail_at"_a = std::vector<std::string>{}, "seed"_a = 0, "root"_a = 0,
      "trace"_a = false, "One run; see Simulation for many.");
}
