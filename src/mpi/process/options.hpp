// What the environment asks of the shim, parsed once in MPI_Init into a type that cannot be wrong.
//
// Each option is an option of `resprout run` too; docs/reference/environment.md lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/process/calibration.hpp"
#include "protocols/digest_vote/method.hpp"
#include "runtime/net/order.hpp"
#include "runtime/replicas/lag.hpp"

namespace resprout::shim {

enum class OnLoss { go_on, error, restart };         // RESPROUT_ON_LOSS=continue|error|restart
enum class OnUnanswered { handler, ignore, abort };  // RESPROUT_ON_UNANSWERED=handler|ignore|abort
enum class TransportChoice { automatic, shm, tcp };  // RESPROUT_TRANSPORT=auto|shm|tcp
enum class Collectives {
  automatic,
  native,
  resprout,
  trees
};  // RESPROUT_COLLECTIVES=auto|auto:CALIBRATION|native|resprout|trees
enum class OnCorruption { abort, report };         // RESPROUT_ON_CORRUPTION=abort|report
enum class OnReplicaLoss { end_plane, stand_in };  // RESPROUT_ON_REPLICA_LOSS=end-plane|stand-in
enum class Sum { any, reproducible };              // RESPROUT_SUM=any|reproducible

// RESPROUT_MISSING=nothing|last|mean|linear|VALUE: what stands in for missing contributions to
// reductions.
struct Missing {
  enum class What { nothing, last, value, mean, linear } what = What::nothing;
  // Of what was given before.
  bool is_remembered() const { return what != What::nothing && what != What::value; }
  long double value = 0;
};

// RESPROUT_INJECT: faults for tests and demonstrations, `;`-separated, e.g. `kill:rank=3,at=2s`.
struct Fault {
  enum class Kind { kill, stop, exit, flip } kind = Kind::kill;
  // Of this process, in which a bit is another one; none: it is one of what is named below.
  enum class Area { none, process, stack, heap, data } area = Area::none;
  int rank = 0;                  // world rank
  std::optional<double> at_s;    // seconds after MPI_Init returned, or
  std::string call;              // on entering the count-th call of this name ("allreduce", ...)
  std::uint64_t count = 0;       // 1 = the first
  int status = 1;                // of exit
  std::uint64_t message = 0;     // of flip: of the messages that it sends, 1 = the first; or
  std::uint64_t checkpoint = 0;  // of what it protects, after its so-manieth checkpoint; or
  std::uint64_t collective = 0;  // of what it gives to its so-manieth collective
  std::uint64_t bit = 0;         // likewise: of the packed data or the area, modulo its bits
  std::string text;              // as it was written
};

// The MPI library never carries any.
inline bool are_own(Collectives collectives) {
  return collectives == Collectives::resprout || collectives == Collectives::trees;
}

struct Options {
  bool is_replicated() const { return replicas > 1; }
  // Where siblings stand in for who is lost in a plane.
  bool stands_in() const { return is_replicated() && on_replica_loss == OnReplicaLoss::stand_in; }
  // A plane ends at its first loss: there is nothing to go on after.
  bool leaves_collectives_to_mpi() const {
    return is_replicated() && !stands_in() && !are_own(collectives) && sum != Sum::reproducible;
  }

  OnLoss on_loss = OnLoss::go_on;
  OnUnanswered on_unanswered = OnUnanswered::handler;
  TransportChoice transport = TransportChoice::automatic;
  std::string bcast;      // protocol spec; empty: the default for the payload's size
  std::string allreduce;  // protocol spec; empty: the default
  Collectives collectives = Collectives::automatic;
  Calibration calibration;  // of `automatic`; without rows if nothing was measured here
  Sum sum = Sum::any;
  Missing missing;
  std::string network;  // RESPROUT_NETWORK=10.0.0.0/8: where to listen if there are several hosts
  int heartbeat_period_ms = 100;
  int heartbeat_timeout_ms = 1000;
  int radix = 4;                        // of the tree of the views
  std::optional<runtime::Order> order;  // RESPROUT_ORDER=lines:HOST [GROUP];...: hosts in this tree
  int replicas = 1;                     // planes of the job
  int replica = 0;                      // plane of this process
  bool has_replica = false;             // it was told so
  // RESPROUT_VERIFY=none|all-to-all|msg-plus-hash|async|async-hash; nothing: none
  std::optional<protocols::VoteMethod> verify;
  OnCorruption on_corruption = OnCorruption::abort;
  OnReplicaLoss on_replica_loss = OnReplicaLoss::end_plane;
  // RESPROUT_SHADOW_LAG=none|MESSAGES|BYTES, as 10000 or 64MiB: of lazy methods
  runtime::Steps shadow_lag{runtime::Steps::no_bound().messages, std::uint64_t{256} << 20};
  std::string run_directory;  // where each rank leaves its part of the report; empty: nowhere
  bool verbose = false;
  std::vector<Fault> faults;
};

// What a communicator's hint says of `collectives`. Empty, or what is wrong.
std::string parse_collectives(std::string_view value, Collectives& collectives);

// Options from the environment, or one line that names the variable, what was given and what is
// valid. Unknown RESPROUT_* variables are errors too.
struct ParsedOptions {
  Options options;
  std::string error;  // empty: all is well
};
ParsedOptions parse_environment(char** environment, int world_size);

}  // namespace resprout::shim
