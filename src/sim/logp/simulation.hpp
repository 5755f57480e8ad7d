// A protocol by its spec, on a LogP machine: made once, run as often as one likes.
// Thread rule: one thread a simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "registry/spec.hpp"
#include "sim/logp/engine.hpp"
#include "sim/logp/entries.hpp"
#include "sim/logp/faults.hpp"
#include "sim/logp/model.hpp"
#include "sim/logp/trace.hpp"

namespace resprout::sim {

// What was measured in one run. Live: those who were alive to the end. Times count from the start
// of the operation.
struct Result {
  Totals totals;               // the digest says nothing if it was not asked for
  std::int32_t uncolored = 0;  // live ones without the broadcast, or that did not return
  // Of broadcasts, and of revocations, whose uncolored ones have not heard:
  std::optional<Time> coloring_latency;  // the last live one that was colored
  std::optional<Time> correction_start;  // synchronized: the agreed time; else the first correction
  std::optional<std::int32_t> g_max;
  // Of reductions:
  std::optional<std::int32_t> contributors;  // of the result; nothing: no live one has a result
  std::optional<Time> completion_latency;    // the last live one that returned
  // Of FTCO with in-band detection, in steps, from the last entry; the first one of revoke's plans:
  std::optional<Duration> output_spread;         // between the first and the last live one's end
  std::optional<std::int64_t> longest_queue;     // of messages that had arrived, at a live one
  std::optional<std::int64_t> keepalives;        // among the messages
  std::optional<std::int64_t> false_suspicions;  // somebody was suspected who still ran
  Trace trace;                                   // if it was asked for
};

struct Machinery {
  registry::Spec spec;
  std::int32_t procs = 1;
  LogP model;
  Rank root = rank_at(0);
  bool wants_trace = false;
  bool wants_digest =
      true;  // without it, and without a trace, much can be computed: docs/explanation/exact.md
  Entries entries = {};             // in-band detection
  std::string initiators = "root";  // revoke: see parse_initiators()
  // Memberships: who has died comes back under its identifier, as somebody new, and asks the last
  // process. REQUIRES: it is dead by then, and its end has been noticed; the last one lives.
  std::vector<Death> returns = {};
};

class Simulation {
 public:
  // One line if something in `machinery` is out of range or does not go together.
  static std::variant<std::unique_ptr<Simulation>, std::string> make(const Machinery& machinery);

  // The line with which make() would refuse, or empty; at the cost of the tree's tables only.
  static std::string defect(const Machinery& machinery);

  virtual ~Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // `seed`: of what a protocol leaves to chance; most leave nothing to it.
  // REQUIRES: all ranks of `deaths` are below procs.
  Result run(std::span<const Death> deaths, std::uint64_t seed = 1) { return do_run(deaths, seed); }

 protected:
  Simulation() = default;

 private:
  virtual Result do_run(std::span<const Death> deaths, std::uint64_t seed) = 0;
};

}  // namespace resprout::sim
