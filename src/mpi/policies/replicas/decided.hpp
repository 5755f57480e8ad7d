// What may differ between replicas without any corruption is decided by one of them and followed
// by the others: the time, which message a wildcard takes, which request is complete.
//
// The replica that decides makes the program's call as it is; the others wait until they hear what
// came of it and do the same: they receive from that rank, or wait for that request. Before others
// can see what came of a decision (a send, a collective) it is known to all replicas (`settle`), so
// that none is forgotten if a plane is lost.
//
// Lazy Fault Detection for Redundant MPI, chapter 7 (wildcards);
// docs/explanation/protocols/decision_log.md. Thread rule: from one thread of the program at a
// time, in the same order in all replicas.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/replicas/decisions.hpp"
#include "runtime/replicas/receive_order.hpp"
#include "runtime/replicas/returns.hpp"

namespace resprout::shim {

class Decided {
 public:
  enum class Call : std::uint32_t {
    wtime,
    processor_name,
    probe,
    iprobe,
    test,
    testall,
    testany,
    testsome,
    waitany,
    waitsome,
    get_status,
    take_in,
    clock,
  };
  static std::string name_of(std::uint32_t call);

  Decided(runtime::Decisions& decisions, std::function<void()> meanwhile)
      : decisions_(decisions), meanwhile_(std::move(meanwhile)) {}

  double wtime();
  // What this process has read from a clock becomes what is decided.
  void clock(std::span<std::byte> reading);
  // MPI_Get_processor_name of the replica that decides.
  std::string processor_name(const std::function<std::string()>& own);

  // Where a message comes from.
  struct From {
    int source = MPI_PROC_NULL;
    int tag = MPI_ANY_TAG;
  };
  // `find`: MPI's blocking probe; `look`: the one that does not wait.
  From probe(const std::function<From()>& find);
  std::optional<From> iprobe(const std::function<std::optional<From>()>& look);

  // Which requests are complete: their indices, in order. Empty: all are inactive.
  using Indices = std::vector<int>;
  struct Completed {
    Indices indices;
    bool is_own = false;  // this process has completed them already
  };
  // `complete`: MPI's call.
  Completed wait(Call call, const std::function<Indices()>& complete);
  // Nothing: not yet.
  std::optional<Completed> test(Call call, const std::function<std::optional<Indices>()>& complete);

  // Whether a request is complete that stays as it is.
  bool get_status(const std::function<bool()>& look);

  // Whether a plane that was lost and is there again is taken in here. `meanwhile`: while it waits
  // for who decides, in place of the usual.
  std::optional<runtime::Return> take_in(
      const std::function<std::optional<runtime::Return>()>& look,
      const std::function<void()>& meanwhile);

  // What a wildcard has taken: said by who decides, at any time, and known to the others as soon as
  // it gets there.
  using Match = runtime::ReceiveOrder::Match;
  void announce(const Match& match);
  struct Matches {
    std::vector<Match> all;
    bool decides = false;  // this process, from now on
  };
  Matches take_matches();
  bool has_news() const { return decisions_.has_news(); }
  bool has_leader_ended() const { return decisions_.has_leader_ended(); }

  // Before anything that others can see.
  void settle();
  // Before what may block.
  void flush() { decisions_.flush(); }
  void finish();
  // The program has done again what it did since its checkpoint (checkpoints.hpp).
  void stop_repeating();

 private:
  using Bytes = runtime::Decisions::Bytes;
  template <typename Function>
  auto or_end(Function function);
  Bytes decide(Call call, runtime::Decisions::Pace pace, const std::function<Bytes()>& find);
  std::optional<Bytes> poll(Call call, const std::function<std::optional<Bytes>()>& look);

  runtime::Decisions& decisions_;
  const std::function<void()> meanwhile_;
};

// Of this process; null: everybody finds out for itself. Set between two MPI calls of the program.
inline std::atomic<Decided*> decided{nullptr};

inline void settle_decisions() {
  if (Decided* by = decided.load(std::memory_order_acquire)) [[unlikely]]
    by->settle();
}

}  // namespace resprout::shim
