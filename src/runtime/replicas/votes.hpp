// The messages of this process that are not verified yet: the driver of their machines.
//
// A message is one exchange of protocols/digest_vote between the replicas of its sender and those
// of its receiver. Replica k of a rank is that rank's process in plane k. Inside a plane the MPI
// library carries the message, and its receiver reports here that it has it. What crosses planes,
// and each question and answer, is a frame. A process may be both ends of a message: then its
// replicas compare what they have.
//
// Invariants
//  1. A machine, and the bytes that others may ask it for, stay until every living receiver has
//     said that the message is over for it. So every question finds somebody who can answer it.
//  2. A frame that comes before the call that it belongs to waits for that call.
//  3. A lost process is sent nothing, and nothing from it counts. Lost is a plane as a whole
//     (docs/explanation/adr/010), or a single process where siblings stand in
//     (docs/explanation/adr/025). In the second case its streams are *careful*: the program gets
//     nothing of them before it is verified, with every method. Else a copy from another plane
//     could bring corruption along. Streams that are compared only are careful from the start.
//  4. With a lazy method most messages are *plain* and have no machine. A message is plain if one
//     sender in another plane owes this process a share (a digest or, with two replicas, a copy),
//     this process has its own copy, and the share is equal or still to come. When anything else
//     happens to the message, a machine is made and told what has happened. In a stream of which a
//     process is lost, only messages that are over are plain.
//  5. A process that has ended, and sends and receives nothing more, says so to all who ask, behind
//     all that it has sent. A process that is asked about a message that it does not have says
//     that. So a receiver learns that a share will never come. It then goes on, for this message
//     alone, as if the sender and the receiver in that plane were lost. So planes whose programs do
//     different things come to an end.
//  6. Where siblings stand in, a process that has not begun to receive a message answers questions
//     about it at once: it knows nothing. It must not wait, as it may itself be waiting for an
//     answer of the one who asks.
//  7. A sender that has sent its shares keeps only the digest of the message. Its machine is made
//     anew for each question, unless bytes are kept.
//
// Lazy Fault Detection for Redundant MPI, chapter 4; docs/explanation/protocols/digest_vote.md.
// Thread rule: one thread at a time. `VoteNetwork` and `OnVote` are called inside of it, and must
// not call back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocols/digest_vote/digest_vote.hpp"
#include "runtime/replicas/numbered_ring.hpp"
#include "runtime/replicas/replica.hpp"
#include "runtime/replicas/streams.hpp"
#include "runtime/replicas/vote_frame.hpp"

namespace resprout::runtime {

class VoteNetwork {
 public:
  // Sends it whenever that is possible, behind what was sent there before; `bytes` are not kept.
  virtual void send(Replica to, const VoteFrame& frame, std::span<const std::byte> bytes) = 0;
  // Says that the caller has something to send that can wait for the next frames. True: before
  // they go out the network asks the caller for it. False: no frames wait; send it now.
  virtual bool expect() { return false; }

 protected:
  ~VoteNetwork() = default;
};

class Votes {
 public:
  struct Setup {
    protocols::DigestVoteConfig config;
    Replica self;
    // Whether copies of what this process has sent are kept, to answer those who need one. Without
    // them the answer is that there is none, and a wrong copy cannot be repaired.
    bool keeps_copies = true;
    // Given where siblings stand in for single lost processes. Returns the bytes of a message that
    // this process has sent, which the caller keeps; nothing if it keeps them no more. Must not
    // call back.
    std::function<std::optional<std::vector<std::byte>>(const MessageName&)> said = {};

    bool stands_in() const { return said != nullptr; }
  };
  // An event of the machine of a message that this process receives. `bytes` are those of the copy
  // that is delivered or that repairs. They are empty if that is the own plane's copy, which the
  // caller has.
  using OnVote = std::function<void(const MessageName&, const protocols::VoteEvent&,
                                    std::span<const std::byte> bytes)>;
  // The digest of a copy of the message that has come from another plane.
  using DigestOf = std::function<std::uint64_t(std::span<const std::byte>)>;

  // What the caller knows of a message when it receives it. A plain message keeps it until it gets
  // a machine.
  struct Label {
    const char* call = "";
    std::uint64_t bytes = 0;
    DigestOf digest_of;
  };
  struct AlsoSaid {
    // A plain message is verified: two replicas agree. There is no OnVote for it.
    std::function<void(const MessageName&)> agreed = [](const MessageName&) {};
    // A plain message, which the program has already, has got a machine. Its events go to OnVote.
    std::function<void(const MessageName&, const Label&)> has_machine = [](const MessageName&,
                                                                           const Label&) {};
    // The plane does not have the message, and never will. Events of the machine follow.
    std::function<void(const MessageName&, std::int32_t plane)> absent = [](const MessageName&,
                                                                            std::int32_t) {};
  };

  Votes(const Setup& setup, VoteNetwork& network, OnVote on_vote, AlsoSaid also_said);
  Votes(const Setup& setup, VoteNetwork& network, OnVote on_vote)
      : Votes(setup, network, std::move(on_vote), AlsoSaid{}) {}
  Votes(const Votes&) = delete;
  Votes& operator=(const Votes&) = delete;

  // This process sends the message, and MPI carries it to the receiver in this plane. `bytes` is
  // its packed data, and `digest` the digest of `bytes`. REQUIRES: this process is the message's
  // sender; called once for each message.
  void send(const MessageName& name, std::uint64_t digest, std::span<const std::byte> bytes);
  // Of a contribution to a collective, or a result, whose digests alone are compared. REQUIRES:
  // this process is both ends of it; called once for each.
  void send(const MessageName& name, std::uint64_t digest);
  // This process has started to receive the message. `own` is the digest of the copy of its own
  // plane, if that has arrived. It counts before what others have said. REQUIRES: this process is
  // the message's receiver; called once for each message.
  void receive(const MessageName& name, DigestOf digest_of,
               std::optional<std::uint64_t> own = std::nullopt);
  // The copy of the own plane has arrived after receive(). REQUIRES: receive() was called without
  // `own`. If the sender in this plane is lost, the message may be over already: not to be called.
  void take_own_copy(const MessageName& name, std::uint64_t digest);

  // As receive() with the own copy, if the message can be plain. Then the program may have the copy
  // at once. False: nothing was done. REQUIRES: as receive().
  bool maybe_receive_plain(const MessageName& name, const Label& label, std::uint64_t digest);

  // In place of receive(), and of send() where this process is both ends: what it has under this
  // name proves nothing. It was made of what siblings have sent, or is a part of a message only.
  // The others compare theirs without it. REQUIRES: this process is the receiver; if it has not
  // sent what it should, siblings stand in for the lost.
  void abstain(const MessageName& name);

  // This process sends and receives nothing more.
  void end();
  // Asks each process that owes this one a share, once, whether it will still come.
  void ask_who_is_late();

  // A frame that has come from `from`. If that process cannot have sent it, nothing is done.
  void handle(Replica from, const VoteFrame& frame, std::span<const std::byte> bytes);
  void lose_plane(std::int32_t plane);
  void lose(Replica process);

  // No message that this process receives is open.
  bool are_all_over() const { return open_ == 0; }
  // Another replica's sender says the same as what this process has received, of every message so
  // far. Some may not be over yet: a third replica has not said what it sends.
  bool are_all_confirmed() const { return unconfirmed_ == 0; }
  // Of every message so far it is known whether what this process has received is right: another
  // replica's sender says the same, or the message is over.
  bool are_all_settled() const { return unsettled_ == 0; }
  // This process has gone back to a checkpoint: messages that were found wrong count no longer.
  void forgive() { unconfirmed_ = unsettled_; }
  // The digest on which two replicas agree; nothing if no two do. REQUIRES: called by OnVote, for
  // its message.
  std::optional<std::uint64_t> verdict_of(const MessageName& name) const;
  // Whether a share of the message has come from another plane. REQUIRES: receive() was called,
  // and the message is not over.
  bool has_heard(const MessageName& name) const;
  // For MPI_Finalize, once all messages are over that processes of this plane receive. Tells the
  // siblings so. A message that nobody receives is over by this, too.
  void finish_own_plane();
  // Whether all living planes have finished so: nobody receives or asks for anything any more.
  bool are_planes_over() const;

  struct Load {
    std::uint64_t open = 0;   // messages that this process receives and that are not verified yet
    std::uint64_t bytes = 0;  // of copies that are kept
  };
  // The load now, and the largest value that each of its fields has had.
  Load load() const { return {open_, bytes_}; }
  Load load_max() const { return load_max_; }

 private:
  // These two are small: there are as many as there are messages that are not verified yet.
  struct Sent {
    std::optional<std::span<const std::byte>> copy() const {
      return has_bytes ? std::optional(std::span(bytes)) : std::nullopt;
    }

    protocols::SentCopy machine;
    std::vector<std::byte> bytes;
    bool has_bytes = false;
    bool is_native_due = true;  // the next copy for the own plane's receiver is MPI's business
  };
  using Held = std::array<std::vector<std::byte>, protocols::degree_max>;  // by origin
  struct Received {
    std::size_t held_bytes() const;

    protocols::ReceivedCopy machine;
    DigestOf digest_of;
    std::unique_ptr<Held> held;   // null: nothing
    std::uint32_t has_bytes = 0;  // bit i: of origin i
    bool is_confirmed = false;
    bool is_settled = false;
    std::uint8_t absent = 0;  // bit k: plane k has no such message
  };
  struct Arrived {
    Replica from;
    const VoteFrame& frame;
    std::span<const std::byte> bytes;
  };
  struct Early {
    Replica from;
    VoteFrame frame;
    std::vector<std::byte> bytes;
  };
  // Equal digests are the end of it.
  struct Plain {
    std::uint64_t own = 0;
    std::uint64_t share = 0;  // a digest that has come too early
    Label label;
    bool has_own = false;    // received
    std::uint8_t heard = 0;  // bit k: the share of plane k; equal, if it has its own
    bool is_over = false;
  };
  struct SentDigest {
    std::uint64_t digest = 0;
    bool is_sent = false;
  };
  struct Flow {
    NumberedRing<SentDigest> digests;  // of what was sent
    NumberedRing<Plain> plain;
    std::map<std::uint64_t, Sent> sent;  // whose bytes are kept
    std::map<std::uint64_t, Received> received;
    std::map<std::uint64_t, std::vector<Early>> early;
    // By replica of the receiver: it asks no more about what is before this number.
    std::array<std::uint64_t, protocols::degree_max> over{1, 1, 1};
    std::uint64_t told = 1;
    std::uint64_t forgotten = 1;        // all before it
    std::set<std::uint64_t> abstained;  // of which this process has nothing to compare
  };
  struct Suspected {
    std::array<Rank, 2 * protocols::degree_max> ranks{};
    std::uint32_t count = 0;
  };

  const protocols::DigestVoteConfig& config() const { return setup_.config; }
  // Streams that are compared only are compared by digests.
  const protocols::DigestVoteConfig& config_of(const Stream& stream) const {
    if (stream.of != Stream::Of::messages) return comparison_;
    return setup_.stands_in() && !is_whole(stream) ? careful_ : setup_.config;
  }
  // The bytes of a copy; nothing: they are not here.
  using Copy = std::optional<std::span<const std::byte>>;
  void start(const MessageName& name, Sent made, const Copy& copy, bool keeps);
  bool keeps(const Stream& stream) const {
    return setup_.keeps_copies && !(setup_.stands_in() && stream.of == Stream::Of::messages);
  }
  bool is_sender(const Stream& stream) const { return stream.sender == setup_.self.rank; }
  bool is_receiver(const Stream& stream) const { return stream.receiver == setup_.self.rank; }
  Replica replica(const Stream& stream, Rank rank) const;
  bool is_lost(Replica process) const {
    return (lost_planes_ >> process.plane & 1) != 0 || lost_.contains(process);
  }
  // Nobody of it is lost.
  bool is_whole(const Stream& stream) const;
  bool is_plane_over(std::int32_t plane) const { return (planes_over_ >> plane & 1) != 0; }
  void finish_plane(std::int32_t plane);
  // `absent`: planes that are as good as lost, bit k: plane k.
  Suspected suspected(const Stream& stream, std::uint32_t absent = 0) const;
  Flow& flow_of(const Stream& stream);
  void watch(const Stream& stream);
  void note_loss(const Stream& stream, Flow& flow);

  bool may_be_plain(const Stream& stream) const {
    return ended_.empty() && config_of(stream).is_lazy() && is_whole(stream);
  }
  protocols::VoteKind kind_of_share(const Stream& stream) const {
    return config_of(stream).sends_digests() ? protocols::VoteKind::digest
                                             : protocols::VoteKind::data;
  }
  std::uint8_t owed(const Stream& stream) const;
  std::int32_t share_plane(const Stream& stream, const protocols::VoteMessage& message) const;
  protocols::VoteMessage share_of(const Stream& stream, std::int32_t plane,
                                  std::uint64_t digest) const;
  protocols::VoteMessage own_copy_of(std::uint64_t digest) const;
  void agree(const MessageName& name, Plain& plain, std::uint8_t planes);
  bool maybe_take_plain(Flow& flow, const Arrived& arrived);
  std::uint8_t take_early_copies(Flow& flow, const MessageName& name, const Label& label,
                                 std::uint64_t digest);
  void make_machine(const MessageName& name, Flow& flow, Plain& plain);
  void end_plain(const Stream& stream, Flow& flow);

  // Of votes_absent.cpp.
  bool owes_any(Replica sender, const Stream& stream, Flow& flow) const;
  void say(Replica to, VoteFrame::Kind kind, const MessageName& name = {});
  void take_end(Replica sender);
  bool maybe_say_absent(Replica from, const VoteFrame& question);
  void give_up_if_due(const MessageName& name, Received& received, Replica sender);
  void give_up(const MessageName& name, Received& received, std::int32_t plane);
  void go_on_without(const MessageName& name, Received& received, std::int32_t plane);
  void take_absence(const MessageName& name, Replica from);
  void take_abstention(Flow& flow, const Arrived& arrived);

  void say_that_nothing_is_known(const Arrived& arrived);
  void answer(const MessageName& name, Sent& sent, const protocols::VoteMessage& question);
  void take_vote(Flow& flow, const Arrived& arrived);
  void take(const MessageName& name, Received& received, const protocols::VoteMessage& message,
            std::span<const std::byte> bytes);
  void hand_in_early(Flow& flow, std::uint64_t number);
  // Drains a machine: what it says, and what it sends.
  void drain(const MessageName& name, Sent& sent, const Copy& copy);
  void drain(const MessageName& name, Received& received);
  void note_settled(Received& received, const protocols::VoteEvent& event);
  void send_out(const MessageName& name, const protocols::VoteMessage& message, Copy copy);

  void note_own_progress(const Stream& stream, Flow& flow);
  void tell(const Stream& stream, Flow& flow);
  void tell_all();
  void forget(const Stream& stream, Flow& flow);
  void keep(std::size_t bytes);
  void drop(std::size_t bytes) { bytes_ -= bytes; }

  const Setup setup_;
  const protocols::DigestVoteConfig comparison_;
  const protocols::DigestVoteConfig careful_;  // the eager method that has the same shares
  VoteNetwork& network_;
  const OnVote on_vote_;
  const AlsoSaid also_said_;
  std::unordered_map<Stream, Flow, StreamHash> flows_;
  std::uint32_t lost_planes_ = 0;   // bit k: plane k
  std::set<Replica> lost_;          // beside these
  std::set<std::int32_t> watched_;  // ranks whose replicas have a connection from here
  std::uint32_t planes_over_ = 0;   // bit k: plane k has finished
  bool has_ended_ = false;
  std::vector<Replica> curious_;  // will hear when it has
  std::set<Replica> asked_;
  std::set<Replica> ended_;
  // Of which others have not heard how far they are; what was over there since all were told.
  std::vector<Stream> untold_;
  std::uint64_t untold_messages_ = 0;
  std::uint64_t untold_bytes_ = 0;
  std::uint64_t open_ = 0;
  std::uint64_t unconfirmed_ = 0;  // of all that were ever received
  std::uint64_t unsettled_ = 0;    // neither confirmed nor over
  std::uint64_t bytes_ = 0;
  Load load_max_;
};

}  // namespace resprout::runtime
