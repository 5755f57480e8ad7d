// The outcome of a corrected tree broadcast, computed instead of simulated.
//
// Corrected Trees, sections 3 and 4, for synchronized correction and processes that are dead from
// the beginning. Everything but the digest is what the engine would measure, for the price of the
// faults and not of the processes: docs/explanation/exact.md.
// Thread rule: one thread a broadcast.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "registry/trees.hpp"
#include "sim/exact/ring_correction.hpp"
#include "sim/exact/tree_coloring.hpp"
#include "sim/logp/simulation.hpp"

namespace resprout::sim {

class ExactBroadcast {
 public:
  // Whether this is for the shortcut. It is not if it is no corrected tree with synchronized
  // opportunistic, optimized opportunistic or checked correction; a trace is wanted; the gap is a
  // message time (2o+L) or more; or the ring is so small that a process could send round it before
  // it hears anything. REQUIRES: overhead >= 1.
  static bool is_for(const Machinery& machinery);

  // Null if it is not for the shortcut, or there is no such tree. REQUIRES: as Simulation::make
  // checks, but for the tree.
  static std::unique_ptr<ExactBroadcast> make(const Machinery& machinery);

  // Whether these are dead from the beginning, as `run` requires.
  static bool supports(std::span<const Death> deaths);

  // As Simulation::run, but for the digest, which is 0. REQUIRES: supports(deaths).
  Result run(std::span<const Death> deaths);

 private:
  ExactBroadcast(const Machinery& machinery, registry::OwnedTree tree);

  LogP model_;
  TreeColoring coloring_;
  RingCorrection correction_;
};

}  // namespace resprout::sim
