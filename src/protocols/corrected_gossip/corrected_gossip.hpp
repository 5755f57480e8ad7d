// Corrected gossip: who has the payload sends it to others at random, then the ring is corrected.
//
// Hoefler et al., "Corrected Gossip Algorithms for Fast Reliable Broadcast on Unreliable Systems"
// (IPDPS 2017), as Corrected Trees sums it up in sections 3.1 and 4.4. Gossip ends in one of two
// ways:
//   by time    no send starts at `until` or later; correction starts there, everywhere. Who is
//              reached by gossip after `until` corrects too, or ends: `late`
//   by rounds  each message carries one round more than its sender has seen; who has reached the
//              last round corrects. That needs no common clock
//
// Invariants
//  1. A process sends only when it is colored; gossip comes before corrections.
//  2. Only who was colored by gossip sends; with Late::end, by gossip that came in time.
//  3. The round only grows.
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/protocol.hpp"
#include "core/random.hpp"
#include "protocols/broadcast/receipt.hpp"
#include "protocols/corrected_gossip/late.hpp"
#include "protocols/correction/any.hpp"
#include "protocols/correction/corrector.hpp"

namespace resprout::protocols {

struct CorrectedGossipConfig {
  std::int32_t procs;
  Rank root = rank_at(0);
  CorrectionRules correction{};
  std::uint32_t rounds = 0;   // the last one; 0: gossip ends by time
  Time until{};               // of gossip that ends by time
  Late late = Late::correct;  // likewise
  std::uint64_t seed = 1;

  bool needs_common_clock() const { return rounds == 0; }
};

class CorrectedGossip {
 public:
  using Config = CorrectedGossipConfig;

  // REQUIRES: `config` outlives the machine; 0 <= self < config.procs.
  CorrectedGossip(const CorrectedGossipConfig& config, Rank self)
      : config_(&config),
        random_(splitmix64_of(config.seed, self)),
        corrector_(config.correction, self) {}

  void start(const Context& context) {
    if (self() != config_->root || is_colored() || receipt_.is_frozen()) return;
    receipt_.become_root(self());
    corrector_.join(view(context), correction_start());
  }

  // `tree` and `correction`.
  Disposition handle_message(const Context& context, const Message& message) {
    if (receipt_.is_frozen()) return Disposition::done;
    const bool is_gossip = message.kind == MessageKind::tree;
    if (is_gossip) round_ = std::max(round_, message.round);
    if (message.kind == MessageKind::correction)
      corrector_.hear(view(context), message);
    else if (!is_gossip)
      return Disposition::done;
    if (is_colored()) return Disposition::done;
    receipt_.become_colored(message);
    if (is_gossip && corrects(context)) corrector_.join(view(context), correction_start());
    return Disposition::done;
  }

  void handle_timeout(const Context& context) {
    corrector_.handle_timeout(view(context), correction_start());
  }
  void handle_suspicion(const Context&, Rank) {}

  // `colored` and `deliver` with the first message; the root: `deliver` of its own input.
  std::optional<Event> poll_event(const Context&) { return receipt_.poll(self(), round_); }

  // `tree`, with the round, and `correction`. Slot: `result`, from the root `input`.
  std::optional<Message> poll_send(const Context& context) {
    if (is_gossiping(context)) return gossip();
    return corrector_.next(view(context), slot());
  }

  Deadline poll_timeout(const Context& context) const {
    return corrector_.deadline(view(context), correction_start());
  }

  // Has the payload, or had it when it was frozen.
  bool is_colored() const { return receipt_.is_colored(); }

  // The root has sent its payload past the gossip. Nobody waits for this process in particular, so
  // it sends nothing on.
  void handle_supply(const Context&, const Message& message) {
    if (!receipt_.is_frozen() && !is_colored()) receipt_.become_colored(message);
  }

  // A correction without its payload. It tells who else is at work.
  void handle_offer(const Context& context, const Message& message) {
    if (!receipt_.is_frozen()) corrector_.hear(view(context), message);
  }

  // Whether only corrections, or asking for the payload, can reach an uncolored process: gossip
  // may be over when they come.
  bool needs_correction(const Context&) const { return true; }

  // Whether an uncolored process has to do something about it itself. Gossip misses processes by
  // chance; only some corrections reach all of them, and those only while nobody dies.
  bool may_be_missed(const Context& context) const {
    return !context.suspects.empty() || tolerated_failures(config_->correction) < 0;
  }

  // From whom an uncolored process expects the payload: anybody may bring it. From place 0 on,
  // no_rank: no more.
  Rank next_supplier(const Context& context, std::int32_t& place) const {
    while (place < config_->procs) {
      const Rank rank = rank_at(place++);
      if (rank != self() && !context.suspects.contains(rank)) return rank;
    }
    return no_rank;
  }

  void freeze() {
    receipt_.freeze();
    corrector_.leave();
  }

 private:
  static std::uint64_t splitmix64_of(std::uint64_t seed, Rank self) {
    std::uint64_t state = seed + static_cast<std::uint64_t>(index(self)) * 0xd6e8feb86659fd93u;
    return splitmix64(state);
  }

  Rank self() const { return corrector_.self(); }
  Slot slot() const { return self() == config_->root ? Slot::input : Slot::result; }
  Time correction_start() const { return config_->rounds != 0 ? whenever : config_->until; }
  // Whether who is reached by gossip now takes part in the correction.
  bool corrects(const Context& context) const {
    return config_->rounds != 0 || config_->late == Late::correct || context.now <= config_->until;
  }
  RingView view(const Context& context) const {
    return {config_->correction, config_->procs, context.now};
  }
  bool is_gossiping(const Context& context) const {
    if (!receipt_.is_from_dissemination() || receipt_.is_frozen() || config_->procs == 1)
      return false;
    return config_->rounds != 0 ? round_ < config_->rounds : context.now < config_->until;
  }

  Message gossip() {
    const auto others = static_cast<std::uint32_t>(config_->procs - 1);
    const auto other = static_cast<std::int32_t>(random_.below(others));
    Message message;
    message.from = self();
    message.to = rank_at(other < index(self()) ? other : other + 1);
    message.kind = MessageKind::tree;
    message.slot = slot();
    message.round = config_->rounds != 0 ? ++round_ : 0;
    return message;
  }

  const CorrectedGossipConfig* config_;
  SmallRandom random_;
  Corrector<AnyCorrection> corrector_;
  std::uint32_t round_ = 0;
  Receipt receipt_;
};

static_assert(Machine<CorrectedGossip> && sizeof(CorrectedGossip) <= 56);
static_assert(std::has_unique_object_representations_v<CorrectedGossip>);

}  // namespace resprout::protocols
