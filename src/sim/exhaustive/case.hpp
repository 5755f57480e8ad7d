// What the explorer is asked, and what it has found.
// Thread rule: values.
#pragma once

#include <string>

#include "sim/exhaustive/play.hpp"

namespace resprout::sim {

struct Case {
  std::string spec = "ftco-allreduce";
  int procs = 4;
  int root = 0;
  int dead = 0;             // how many are dead from the start: any of them, but for the root
  int joiners = 0;          // membership: so many of the processes join later
  int returns = 0;          // membership with local views: processes come back so often
  int initiators = 1;       // revoke: so many revoke, from the root on
  bool joins_low = false;   // membership: joiners are the first processes, not the last
  bool proves = false;      // membership: suspicions of the dead are proofs
  bool probes = false;      // membership: time passes for who is isolated
  bool corrupts = false;    // digest-vote: one thing may be silently corrupted
  bool offers = false;      // corrections travel without their payload
  bool enters_late = true;  // processes enter at any time; false: all before anything else
  std::string defect;       // see adversary/defects.hpp; empty: none
  Limits limits;
  const Script* script = nullptr;  // the way to go, instead of all
};

struct Finding {
  Exploration exploration;
  Counterexample shortest;
  Played played;  // by the script, if there is one
};

}  // namespace resprout::sim
