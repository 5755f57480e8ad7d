// The verification of a process's messages, as its threads use it: votes under a lock, waiting for
// them, and what was found.
//
// A thread of the program sends and receives; the links' thread hands in frames and losses. Waiting
// never blocks the program's other communication: somebody in the same plane may need it before the
// replicas of this process get as far.
//
// With a lazy method that sends digests nobody waits for what a message says: it is written down,
// and voted on together with others. So what the votes touch is looked for once for many messages,
// and not by each one, while the program's data lie in the caches. A caller that needs to know what
// the votes know has them catch up first. So they say and answer the same as without this.
//
// Lazy Fault Detection for Redundant MPI, chapters 3 and 4.
// Thread rule: from any thread. `VoteNetwork` and `OnFinding` are called by the thread that caused
// it, the latter without the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/idle.hpp"
#include "runtime/mutex.hpp"
#include "runtime/replicas/load_history.hpp"
#include "runtime/replicas/votes.hpp"

namespace resprout::runtime {

// A message, or what a rank gave to a collective or got from it, of which copies differed or which
// could not be had. Said when its vote is over.
struct Finding {
  enum class End : std::uint8_t {
    outvoted,   // the program works with what the majority has
    undecided,  // it cannot be told which copy is right
    lost,       // nobody who lives has the right data
  };
  MessageName name;
  std::string call;  // the lower-case MPI name of the call that received it
  std::uint64_t bytes = 0;
  std::uint32_t wrong_planes = 0;   // bit k: the copy of plane k is wrong
  std::uint32_t absent_planes = 0;  // bit k: plane k has none, and never will
  bool is_tainted = false;          // the program of this process has worked with a wrong copy
  bool is_replaced = false;         // the right data came later, and are known
  End end = End::outvoted;
  std::optional<std::uint64_t> digest;  // of what the majority has
};

struct VerifierPatience {
  // Who waits for so long asks whether what it waits for will come at all.
  std::int64_t late_ns = 1'000'000'000;
  // So many messages may be written down, if the network has patience, too.
  std::size_t deferred_max = 0;
};

class Verifier {
 public:
  using OnFinding = std::function<void(const Finding&)>;
  // What is done again and again while a thread waits; without the lock.
  using Meanwhile = std::function<void()>;

  struct Expected {
    MessageName name;
    const char* call = "";  // a string literal
    std::uint64_t bytes = 0;
    Votes::DigestOf digest_of;
  };
  // What the program gets.
  struct Delivery {
    enum class What : std::uint8_t {
      own,        // the copy of its own plane, which the caller has
      other,      // `bytes` instead
      undecided,  // nobody knows; the own copy may be wrong
      lost,       // nobody has it any more
    } what = What::own;
    std::vector<std::byte> bytes;
  };

  Verifier(const Votes::Setup& setup, VoteNetwork& network, OnFinding on_finding,
           IdleStrategy idle = {}, VerifierPatience patience = {});

  void send(const MessageName& name, std::uint64_t digest, std::span<const std::byte> bytes);
  // What this rank gives to a collective or has got from it: the same at all its replicas, or one
  // of them is wrong. It is only compared, not replaced. With an eager method wait() for it.
  void compare(const Expected& what, std::uint64_t digest, bool is_awaited);
  // `is_awaited`: wait() will be called for it.
  void receive(const Expected& expected, bool is_awaited);
  void take_own_copy(const MessageName& name, std::uint64_t digest);
  // Both at once. True: it is the program's, and there is nothing to wait for; else wait() for it.
  bool receive_copy(const Expected& expected, std::uint64_t digest);
  // What this process has under this name proves nothing (Votes::abstain). A result of a collective
  // counts as unverified; of a message the caller compares what there is of it.
  void abstain(const MessageName& name);
  // Until the program may have the message: with an eager method until it is verified. REQUIRES: it
  // was received with is_awaited, and is waited for once.
  Delivery wait(const MessageName& name, const Meanwhile& meanwhile);
  // It was sent, as something of it has come. REQUIRES: as wait.
  bool is_coming(const MessageName& name);

  // Until it is known of all that this process has received whether it is right, and said what is
  // not.
  void settle(const Meanwhile& meanwhile);
  // The program has gone back, and does again what is settled: the others have heard of it, and
  // nobody hears of it again. It gets the copies of its own plane.
  void repeat();
  // It has come to where it was.
  void stop_repeating();

  // What was written down is voted on. For the links, before frames go out.
  void catch_up();
  // For the links: a frame of votes with all that belongs to it, from an authenticated process.
  void handle(Replica from, std::span<const std::byte> frame);
  void lose_plane(std::int32_t plane);
  void lose(Replica process);

  // For MPI_Finalize, when this process sends and receives no more: until all that it has received
  // is verified, what was found is said, and nobody will ask it for anything.
  // `barrier`: of the own plane, without the lock.
  void finish(const Meanwhile& meanwhile, const std::function<void()>& barrier);
  // The first half of that: others may ask it for something.
  void finish_own(const Meanwhile& meanwhile);

  // All that it has received so far is what another replica has, too.
  bool is_agreed();

  struct Figures {
    std::uint64_t verified = 0;    // what two replicas agree on, or a vote was held about
    std::uint64_t unverified = 0;  // by nobody, because no other sender was alive
    std::uint64_t open_max = 0;    // most that waited for a verdict at one time
    std::uint64_t bytes_max = 0;   // most bytes of copies that were kept at one time
  };
  Figures figures();
  // How much waited for a verdict, and the bytes of copies, since the first message.
  LoadHistory::Means history();
  // So many wait for a verdict now. Takes no lock.
  std::uint64_t open() const {
    return open_.load(std::memory_order_relaxed) + deferred_.load(std::memory_order_relaxed);
  }

 private:
  // Small: there are as many as there are messages that wait for their verdict.
  struct Record {
    const char* call = "";
    std::uint64_t bytes = 0;
    std::unique_ptr<Delivery> delivery;  // null: the own plane's copy
    std::uint8_t wrong_planes = 0;       // as in Finding, and the next three
    bool is_tainted = false;
    bool is_replaced = false;
    Finding::End end = Finding::End::outvoted;
    bool is_awaited = false;
    bool is_delivered = false;  // or will never be
    bool is_over = false;
    bool is_worth_saying = false;
  };
  struct NameLess {
    bool operator()(const MessageName& a, const MessageName& b) const;
  };

  // What this process has sent or received, or is to be compared.
  struct Deferred {
    enum class Step : std::uint8_t { send, receive, compare } step = Step::send;
    Expected what;
    std::uint64_t digest = 0;
  };

  Mutex mutex_;
  using Lock = MutexLock<Mutex>;
  bool defers() const;
  // Of the votes, which have caught up.
  Lock lock_votes() RESPROUT_ACQUIRE(mutex_);
  bool maybe_defer(Deferred what);
  // Says what was found; then it has the lock again.
  void vote_and_say() RESPROUT_REQUIRES(mutex_);
  void vote_on_deferred() RESPROUT_REQUIRES(mutex_);
  void vote_on(const Deferred& done) RESPROUT_REQUIRES(mutex_);
  Record& add_record(const Expected& expected, bool is_awaited) RESPROUT_REQUIRES(mutex_);
  bool maybe_receive_plain(const Expected& expected, std::uint64_t digest)
      RESPROUT_REQUIRES(mutex_);
  void note(const MessageName& name, const protocols::VoteEvent& event,
            std::span<const std::byte> bytes) RESPROUT_REQUIRES(mutex_);
  void end(const MessageName& name, Record& record, const protocols::VoteEvent& event)
      RESPROUT_REQUIRES(mutex_);
  void judge(Record& record, std::uint32_t absent_planes, std::int32_t agreeing);
  static Finding finding_of(const MessageName& name, const Record& record);
  void note_load() RESPROUT_REQUIRES(mutex_);
  // Says what was found, without the mutex, which it then takes again.
  void say() RESPROUT_REQUIRES(mutex_);
  void ask_if_late() RESPROUT_REQUIRES(mutex_);
  template <typename Condition>
  void wait_until(const Meanwhile& meanwhile, Condition condition) RESPROUT_REQUIRES(mutex_);

  const Votes::Setup setup_;
  const OnFinding on_finding_;
  const IdleStrategy idle_;
  const VerifierPatience patience_;
  VoteNetwork& network_;
  Mutex writing_;  // taken last; guards what is written down
  std::vector<Deferred> written_ RESPROUT_GUARDED_BY(writing_);
  std::vector<Deferred> voted_on_ RESPROUT_GUARDED_BY(mutex_);  // room for the next ones
  std::atomic<std::uint64_t> deferred_ = 0;                     // so many are written down
  std::atomic<bool> may_defer_;                                 // written under mutex_
  Votes votes_ RESPROUT_GUARDED_BY(mutex_);
  // Of what has a machine and is open, or not yet waited for.
  std::map<MessageName, Record, NameLess> records_ RESPROUT_GUARDED_BY(mutex_);
  // Planes, bit k, of some of these.
  std::map<MessageName, std::uint32_t, NameLess> absent_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<Finding> unsaid_ RESPROUT_GUARDED_BY(mutex_);
  int saying_ RESPROUT_GUARDED_BY(mutex_) = 0;  // threads that are saying what they have found
  bool is_repeating_ RESPROUT_GUARDED_BY(mutex_) = false;
  std::int64_t ask_at_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::uint64_t verified_ RESPROUT_GUARDED_BY(mutex_) = 0;
  std::uint64_t unverified_ RESPROUT_GUARDED_BY(mutex_) = 0;
  LoadHistory history_ RESPROUT_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> open_ = 0;  // written under the lock
};

}  // namespace resprout::runtime
