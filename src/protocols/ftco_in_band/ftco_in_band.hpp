// FTCO as published: a fault-tolerant collective that detects failures by itself.
//
// FTCO, sections 3 and 4, appendices A and B. What is due, from whom, and who takes the place of
// the dead is the business of FtcoAllreduce; here its suspicions come from: DATA that went up and
// KEEPALIVEs have to be answered in time; what has not come when it was expected is asked for;
// and a message of a distant relative tells that those between are suspected.
// docs/explanation/protocols/ftco_in_band.md says why that is enough.
//
// Invariants
//  1. Who is asked answers when it is its turn, entered or not, and before all else when the
//     patience of who asks runs out: DATA and KEEPALIVE are answered by DATA or ACK.
//  2. A process is suspected only if it was asked, did not answer for `patience_with` it, and no
//     message of its distance lies unread (the driver: see below), or if others suspect it.
//  3. Who waits for something asks for it again and again, so nobody waits for the dead.
//  4. Results are not answered: who misses one asks.
//
// The law of the driver, besides core/protocol.hpp: it gives contacts; it raises suspicions that
// `poll_event` says by handle_suspicion. A driver that shares out its steps as the paper does asks
// `poll_urgent`, `poll_data` and `poll_answer` instead of `poll_send`, and `look_after` when no
// message of that distance is left; it says by handle_arrival what lies in its queue. Before
// `start` it may call handle_message for KEEPALIVE and ACK. Thread rule: none, a value.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/protocol.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/ftco_in_band/service_distance.hpp"
#include "protocols/ftco_in_band/timing.hpp"

namespace resprout::protocols {

struct FtcoInBandConfig {
  FtcoAllreduceConfig collective;
  Timing timing;
  Service service = Service::randomized;
  std::uint64_t seed = 1;  // of randomized service
};

class FtcoInBand {
 public:
  static constexpr std::int32_t any_distance = 0;

  // REQUIRES: `config` outlives the machine; 0 <= self < procs.
  FtcoInBand(const FtcoInBandConfig& config, Rank self);

  void start(const Context& context);
  // `message` has arrived and will be handled later. A process that asks gets an answer at once, so
  // that it does not take this one for dead.
  void handle_arrival(const Context& context, const Message& message);
  Disposition handle_message(const Context& context, const Message& message);
  void handle_timeout(const Context& context);
  void handle_suspicion(const Context& context, Rank rank);
  // Suspects those at `distance` who have not answered in time.
  void look_after(const Context& context, std::int32_t distance);

  // What FtcoAllreduce says, and suspect.
  std::optional<Event> poll_event(const Context& context);
  std::optional<Message> poll_send(const Context& context);
  // An ACK that would come too late if it waited for its turn.
  std::optional<Message> poll_urgent(const Context& context);
  // Contributions and results: DATA.
  std::optional<Message> poll_data(const Context& context);
  // An ACK or a KEEPALIVE to somebody at `distance`.
  std::optional<Message> poll_answer(const Context& context, std::int32_t distance);
  Deadline poll_timeout(const Context& context) const;

  // The distance that is attended to now.
  std::int32_t service_distance(Time now) const;
  // How far away in the tree it is; 1 if it is no relative in a straight line.
  std::int32_t distance_to(Rank rank) const;
  bool has_entered() const { return has_entered_ != 0; }
  // Nothing is left to be done, unless somebody else needs it.
  bool is_done() const;

 private:
  Contact& contact_of(const Context& context, Rank rank);
  void owe(Contact& contact);
  void settle(Contact& contact);
  void ask(const Context& context, Contact& contact);
  Duration patience(Contact& contact) const;
  Duration patience_with_rank(Rank rank, std::int32_t distance) const;
  Duration grace(const Message& message, const Contact& contact) const;
  bool is_waiting() const;
  Time expected() const;
  void enter_round(const Context& context);
  std::optional<Event> poll_suspicion(const Context& context);
  Rank overdue(const Context& context);
  Rank implied(const Context& context);
  Message message_to(Rank rank, MessageKind kind) const;

  const FtcoInBandConfig* config_;
  FtcoAllreduce collective_;
  Time contributions_due_{};  // until start: counted from there
  Time result_due_{};
  Time urgent_at_ = never;       // no answer has to be given before
  Time patience_ends_ = never;   // nobody is overdue before
  std::int32_t interval_;        // of the service in intervals
  std::int32_t round_ = 0;       // that the expected times are of
  std::int32_t told_round_ = 0;  // the highest of others
  std::int32_t teller_ = -1;     // virtual rank: all between it and this process are suspected
  std::int32_t children_;        // of the first round
  std::int32_t waiting_ = 0;     // contacts whose questions, read or not, wait for an answer
  std::int32_t owed_ = 0;        // answers
  std::int16_t has_entered_ = 0;
  std::int16_t has_overdue_ = 0;  // contacts
};

static_assert(Machine<FtcoInBand>);
static_assert(std::has_unique_object_representations_v<FtcoInBand>);

}  // namespace resprout::protocols
