// How siblings stand in for a lost process, message by message.
//
// A process dies, and its plane has a gap. What the lost one would have said there its siblings say
// in their planes, under the same names (streams.hpp). So every process keeps what it says until
// nobody can need it, and who misses something asks a living replica of who should have said it.
// It is answered at once, or when the one that was asked comes so far itself.
//
// Three kinds of things have names: messages; contributions to collectives; and results of
// reductions, which a process keeps for its own replicas. A result that a plane without a gap has
// worked out is the one that all have: others would have been added up in another order. Who works
// one out by itself leads the higher replicas of its rank, and *refuses* the lower ones.
//
// Who may take a message of any tag, or of anybody, has to know what there is: it *listens* to a
// replica of the lost one, which says the name and the size of each message that it sends to this
// rank, in the order in which it sends them.
//
// Nothing is said while nobody asks, but for this: who keeps more than `kept_bytes` asks its
// readers how far they are, and forgets what all living replicas of them have.
//
// Invariants
//  1. Who asks for a thing gets it, or a refusal of it, or learns that nobody lives who has it.
//  2. What is forgotten no living process asks for any more.
//  3. An answer to a question that somebody else has answered since is passed over.
//  4. Of each stream what is heard has no gap behind what this process has received, and is heard
//     once.
//
// Thread rule: one at a time; the caller has a lock. `handle` and `lose` may be called by the
// thread of the links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/replicas/channels.hpp"
#include "runtime/replicas/replica.hpp"
#include "runtime/replicas/spoken.hpp"
#include "runtime/replicas/streams.hpp"

namespace resprout::runtime {

struct MessageNameHash {
  std::size_t operator()(const MessageName& name) const {
    return StreamHash{}(name.stream) * 31 + static_cast<std::size_t>(name.number);
  }
};

class Recall {
 public:
  struct Setup {
    Replica self;
    std::int32_t planes = 2;
    std::int32_t ranks = 1;
    std::size_t kept_bytes = std::size_t{64} << 20;
  };
  Recall(const Setup& setup, ChannelNetwork& network);

  // --- what this process says
  void keep(const MessageName& name, std::span<const std::byte> bytes,
            std::span<const std::int32_t> readers);
  // The result of this name will be worked out by replicas on their own: lower ones that ask for it
  // are refused, higher ones wait for this one's.
  void lead(const MessageName& name);
  // It has all of the stream up to this number, and asks for none of that any more.
  void note_received(const Stream& stream, std::uint64_t number);
  // It has all contributions to collectives on the communicator, and their results, up to this
  // number, and asks for none of them any more.
  void note_collective(std::uint64_t communicator, std::uint64_t number);
  std::size_t kept_bytes() const { return spoken_.bytes(); }
  // REQUIRES: it was kept, and this process has not said yet that it has all of that collective.
  const std::vector<std::byte>& said(const MessageName& name) const;
  // Null: it was not, or is forgotten. Valid until the next call that changes something.
  const std::vector<std::byte>* find(const MessageName& name) const { return spoken_.find(name); }

  // --- what it misses
  enum class Answer : std::uint8_t { none, here, refused, hopeless };
  // `whose`: the rank that says it. Of a result: its own. Nothing if it was asked for already.
  void ask(const MessageName& name, std::int32_t whose);
  // Forgets the question unless there is no answer yet. `here`: `bytes` are what it asked for, and
  // `is_of_own_plane` says whose it was. REQUIRES: it was asked for.
  Answer take(const MessageName& name, std::vector<std::byte>& bytes,
              bool* is_of_own_plane = nullptr);
  // It has come in another way.
  void drop(const MessageName& name) { questions_.erase(name); }

  // --- what there is to receive
  struct Headline {
    MessageName name;
    std::uint64_t bytes = 0;
  };
  // Rank `whose` is lost in this plane. Nothing if it is listened to already.
  void listen_to(std::int32_t whose);
  // Of what was heard of it, the first message on this communicator with this tag, or any of
  // ReceivedStreams::any, that has a number above `taken(its stream)`. REQUIRES: that grows.
  std::optional<Headline> first_heard(std::int32_t whose, std::uint64_t communicator,
                                      std::int32_t tag,
                                      const std::function<std::uint64_t(const Stream&)>& taken);

  // --- the end
  // This process asks nothing more, and says so to the replicas of its rank.
  void arrive();
  // All of them that live have.
  bool have_all_arrived() const;

  // --- what happens
  void handle(Replica from, std::span<const std::byte> frame);
  void lose(Replica replica);
  bool is_alive(Replica replica) const { return alive_[number_of(replica)]; }
  std::int32_t planes() const { return setup_.planes; }

 private:
  enum class Kind : std::uint32_t {
    ask,
    item,
    refusal,
    how_far,
    so_far,
    arrival,
    listen,
    headline
  };
  struct Head {
    MessageName name;
    Kind kind = Kind::ask;
    std::uint32_t reserved = 0;
  };
  static_assert(sizeof(Head) == 40 && std::has_unique_object_representations_v<Head>);
  struct Question {
    std::int32_t whose = 0;
    std::optional<Replica> asked;  // nothing: answered, or hopeless
    Answer answer = Answer::none;
    bool was_refused = false;
    bool is_of_own_plane = false;
    std::vector<std::byte> bytes;
  };
  struct Listening {
    std::optional<Replica> to;  // nothing: nobody is left
    std::deque<Headline> heard;
    StreamCounts last;  // the number of the last one of each stream
  };
  using Names = std::unordered_map<MessageName, Question, MessageNameHash>;

  std::size_t number_of(Replica replica) const {
    return static_cast<std::size_t>(replica.plane * setup_.ranks + replica.rank);
  }
  std::optional<Replica> next_to_ask(const Question& question) const;
  void ask_next(const MessageName& name, Question& question);
  void answer_or_park(const MessageName& name, Replica from);
  void handle_answer(const Head& head, Replica from, std::span<const std::byte> bytes);
  void listen_to_next(std::int32_t whose, Listening& listening);
  void tell_all(Replica listener);
  void say_headline(Replica to, const MessageName& name, std::size_t bytes);
  void handle_headline(const MessageName& name, Replica from, std::span<const std::byte> bytes);
  void handle_so_far(const Head& head, Replica from);
  std::uint64_t far_in(const Stream& stream) const;
  void ask_how_far();
  void forget_all_possible();
  void forget_if_all_have(const Stream& stream, std::span<const std::int32_t> readers);
  void say(Replica to, Kind kind, const MessageName& name, std::span<const std::byte> bytes = {});

  const Setup setup_;
  ChannelNetwork& network_;
  std::vector<bool> alive_;
  std::vector<bool> arrived_;  // the replica of this rank, by plane
  Spoken spoken_;
  Names questions_;
  std::unordered_map<MessageName, std::vector<Replica>, MessageNameHash> parked_;
  std::unordered_map<MessageName, bool, MessageNameHash> led_;  // results, until they are kept
  std::map<std::int32_t, Listening> listening_;                 // by rank
  std::vector<Replica> listeners_;
  StreamCounts received_;
  std::unordered_map<std::uint64_t, std::uint64_t> collectives_;  // by communicator
  // How far others have said they are.
  std::unordered_map<Stream, std::map<Replica, std::uint64_t>, StreamHash> far_;
  std::size_t ask_at_;
};

}  // namespace resprout::runtime
