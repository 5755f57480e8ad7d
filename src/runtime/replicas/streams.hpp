// Which message is which: names that a message has at its sender and at its receiver, in all
// replicas, without a byte added to it.
//
// Messages of one *stream* (communicator, sender, receiver, tag) do not overtake one another (MPI
// 3.1, section 3.5): the n-th that is sent is what the n-th receive takes that matches, in the
// order in which sends and receives are started. Replicas start the same ones in the same order, so
// counting is enough. A receive with MPI_ANY_SOURCE or MPI_ANY_TAG belongs to no stream before its
// message is there; neither do those behind it that its message could have matched.
//
// Invariants
//  1. The name of a receive, once known, stays.
//  2. The n-th receive of a stream that is posted is n-th in it, wildcards counted where they were
//     posted.
//
// A counter is kept for every stream that was ever used: a program that takes a new tag for each of
// a million messages pays some 60 MB for it.
// Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace resprout::runtime {

struct Stream {
  std::uint64_t communicator = 0;  // the same at all its members, in all replicas
  std::int32_t sender = 0;         // world ranks
  std::int32_t receiver = 0;
  std::int32_t tag = 0;
  // What it is that replicas compare: messages, or what a rank gives to collectives and gets from
  // them, protects at a checkpoint, or has of a message that was larger than its buffer, of which
  // it is sender and receiver.
  enum class Of : std::int32_t {
    messages,
    contributions,
    results,
    checkpoints,
    truncated
  } of = Of::messages;

  constexpr bool operator==(const Stream&) const = default;
};

struct MessageName {
  Stream stream;
  std::uint64_t number = 0;  // in its stream; 1 is the first

  constexpr bool operator==(const MessageName&) const = default;
};

struct StreamHash {
  std::size_t operator()(const Stream& stream) const;
};

// How many messages each stream has.
using StreamCounts = std::unordered_map<Stream, std::uint64_t, StreamHash>;
std::uint64_t total_of(const StreamCounts& counts);

// The messages that this process sends.
class SentStreams {
 public:
  // Of a send that is started now.
  MessageName next(const Stream& stream) { return {stream, ++sent_[stream]}; }
  // Of all streams.
  std::uint64_t total() const { return total_of(sent_); }
  bool operator==(const SentStreams&) const = default;

 private:
  StreamCounts sent_;
};

// The messages that this process receives.
class ReceivedStreams {
 public:
  static constexpr std::int32_t any = -1;  // as sender: any source; as tag: any tag
  using Ticket = std::uint64_t;

  // A receive is started now, or a message taken out of the queue by MPI_Mprobe. `stream`: what it
  // asks for, with `any` for wildcards.
  Ticket post(const Stream& stream);
  // What has come for a wildcard. REQUIRES: it was posted with one and was not resolved.
  void resolve(Ticket ticket, std::int32_t sender, std::int32_t tag);
  // It was cancelled and takes nothing. REQUIRES: as resolve.
  void withdraw(Ticket ticket);
  // Nothing while a wildcard before it, or it itself, may still take what decides it. Asked
  // successfully, it forgets the ticket.
  std::optional<MessageName> take(Ticket ticket);
  // As take, but it keeps the ticket.
  std::optional<MessageName> name_of(Ticket ticket) const;
  // How many receives of the stream have a name.
  std::uint64_t named(const Stream& stream) const;
  // Whom it names as its sender, or `any`; nothing once it has a name.
  std::optional<std::int32_t> sender_of(Ticket ticket) const;
  // The first receive behind this one that names this sender and any tag, and whose message no
  // undecided one before it may take.
  struct AnyTag {
    Ticket ticket = 0;
    Stream stream;
  };
  std::optional<AnyTag> first_of_any_tag(std::int32_t sender, Ticket behind) const;

  // All that was posted was taken.
  bool is_idle() const { return undecided_.empty() && decided_.empty(); }
  // How many of each stream. REQUIRES, both: is_idle().
  const StreamCounts& counts() const { return received_; }
  void set_counts(const StreamCounts& counts) { received_ = counts; }

 private:
  struct Posted {
    Ticket ticket;
    Stream stream;
  };
  static bool is_wild(const Stream& stream) { return stream.sender == any || stream.tag == any; }
  bool has_to_wait(const Posted& posted) const;
  bool is_behind_another(const Posted& posted) const;
  void name(Ticket ticket, const Stream& stream);
  void name_those_that_are_decided();

  StreamCounts received_;
  std::deque<Posted> undecided_;  // in the order in which they were posted
  std::unordered_map<Ticket, MessageName> decided_;
  Ticket last_ = 0;
};

}  // namespace resprout::runtime
