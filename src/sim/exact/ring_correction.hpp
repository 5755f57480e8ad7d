// Synchronized correction on the ring, computed where something is missing.
//
// Corrected Trees, section 3.1. Everybody starts at the same time, so all sends start in common
// slots, `spacing` apart. A message that starts in slot t arrives in slot t, is served in a slot
// s >= t (one a slot at each receiver), and is known to the sends of slot s + reaction and later.
//
// Invariants
//  1. Slots before `reaction`: nobody knows anything, all do the same. Each receiver gets one
//     message a slot, so nothing waits.
//  2. A bystander, whose neighbors on both sides are colored, hears them with its first two slots.
//     What it sends is fixed, and ends with slot `reaction` at the latest. Afterwards only borders
//     send: colored processes beside an uncolored one.
// Hence the cost: the number of uncolored processes and of messages that borders send.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocols/corrected_tree/config.hpp"
#include "sim/exact/early_slots.hpp"
#include "sim/exact/rank_bits.hpp"
#include "sim/exact/tree_coloring.hpp"

namespace resprout::sim {

// Slots are counted from the start of correction; -1: never.
struct CorrectionOutcome {
  std::int64_t messages = 0;
  std::int32_t g_max = 0;
  std::int32_t uncolored = 0;      // live ones that correction did not reach
  std::int32_t last_colored = -1;  // in which the last of those it did reach was served
  std::int32_t last_served = -1;   // the last message to a live process
  std::int32_t last_lost = -1;     // in which the last message to a dead process was sent
};

class RingCorrection {
 public:
  // REQUIRES: `correction` is opportunistic, optimized_opportunistic or checked; distance >= 1;
  // 2 <= reaction <= procs - 3.
  RingCorrection(protocols::Correction correction, std::int32_t distance, std::int32_t reaction,
                 std::int32_t procs);

  // REQUIRES: coloring.has_root().
  CorrectionOutcome run(const TreeColoring& coloring);

 private:
  static constexpr std::int32_t nobody = INT32_MAX;
  static constexpr std::int32_t unheard = -1;

  using Side = EarlySlots::Side;

  struct Border {
    std::int32_t rank;
    std::int32_t left_distance = 1;  // to the nearest colored process
    std::int32_t right_distance = 1;
    std::int32_t left_due = unheard;  // the slot that knows of it, if it is heard before `reaction`
    std::int32_t right_due = unheard;
    std::int32_t left_sent = 0;
    std::int32_t right_sent = 0;
    std::int32_t left_heard = nobody;
    std::int32_t right_heard = nobody;
    // The nearest of those that it has heard or will hear of.
    std::int32_t left_nearest = nobody;
    std::int32_t right_nearest = nobody;
    bool is_settled = false;
  };

  // A correction that a border will know of.
  struct Hearing {
    std::int32_t border;
    Side side;  // that it comes from
    std::int32_t distance;
  };

  struct Send {
    Side side;  // that it goes to
    std::int32_t distance;
  };

  // Of a border with one side open.
  struct Settlement {
    std::uint8_t closed;  // the first slot in which it does not send any more
    std::uint8_t sent;    // that way before the late slots
    bool is_known;
    bool is_certain;
  };

  // A border whose settlement is certain.
  struct Settled {
    std::int32_t rank;
    std::int32_t to;  // of its next message
    std::int32_t closed;
    Side side;  // that it sends to
  };

  // A message of a border to a live process.
  struct Touch {
    std::int32_t slot;
    std::int32_t to;
  };

  static Side opposite(Side side) { return side == Side::left ? Side::right : Side::left; }

  bool is_checked() const { return correction_ == protocols::Correction::checked; }
  bool reacts() const { return reaction_ < quiet_from_; }
  std::int32_t neighbor(std::int32_t rank, const Send& send) const;
  Send uninformed(std::int32_t slot) const;
  std::int32_t uninformed_count(Side side) const;
  bool is_bystander(std::int32_t rank) const;
  std::optional<Send> in_reaction() const;
  std::int32_t bystander_that_sends_to(std::int32_t to) const;

  void find_borders();
  void measure_gap(Border& border, Border& next);
  void color_gap(std::int32_t border, std::int32_t size);
  void correct_gaps();
  void activate(std::size_t border);
  void listen(std::int32_t border);
  void expect_bystander(std::int32_t to, std::int32_t served);
  void listen_to_bystanders();
  void reach(std::int32_t rank, std::int32_t slot);
  void react(std::int32_t slot);
  bool choose(const Border& border, Side& side) const;
  void hear(Border& border, Side side, std::int32_t distance) const;
  void send(Border& border, Side side, std::int32_t slot);
  void deliver(const Border& from, std::int32_t to, const Send& send, std::int32_t slot);
  std::int32_t serve(std::int32_t from, std::int32_t to, std::int32_t slot);
  std::int32_t serve(std::int32_t to, std::int32_t slot);
  void expect(std::int32_t to, Side side, std::int32_t distance, std::int32_t served);
  void settle_quiescence(std::int32_t slots);

  // Checked correction, where EarlySlots is usable: all before early_.end() at once.
  void correct_wide_gaps();
  void sweep(std::size_t begin, std::size_t end);
  void color_narrow_gaps(std::size_t begin, std::size_t end);
  void add_wide_borders(std::size_t at, std::uint64_t left_wide, std::uint64_t right_wide);
  void measure_wide_gap(Border& border, Border& next);
  void color_wide_gap(const Border& left, const Border& right);
  void enter(Border& border) const;
  Border wide_border(std::int32_t rank, bool is_left_wide, bool is_right_wide) const;
  bool is_very_wide(std::int32_t distance) const { return distance > reaction_ + 1; }
  bool settle(const Border& border);
  Settlement settlement_of(const Border& border, Side open);
  Settlement find_settlement(Border border, Side open) const;
  void unsettle_heard();
  void send_settled(std::int32_t slot);
  void enter_late_slots(const Border& border);
  std::uint64_t senders_in(std::size_t at, std::int32_t slot) const;
  Send early_send(std::int32_t rank, std::int32_t slot) const;
  void settle_late_slots();
  void settle_early_slots();
  void settle_senders(std::size_t at, std::int32_t slot);

  protocols::Correction correction_;
  std::int32_t distance_;
  std::int32_t reaction_;
  std::int32_t procs_;
  std::int32_t quiet_from_;              // nobody sends from this slot on, whatever it hears
  std::optional<Send> bystanders_send_;  // in slot `reaction`

  EarlySlots early_;

  const TreeColoring* coloring_ = nullptr;
  CorrectionOutcome outcome_;
  std::vector<Border> borders_;                 // ascending
  std::vector<std::int32_t> active_;            // those that still send
  std::vector<std::vector<Hearing>> hearings_;  // by the slot that knows of them
  RankBits unreached_;                          // live ones that nobody has sent to yet
  std::vector<std::int64_t> port_free_;         // by rank: epoch_ + the slot
  RankBits sending_;                            // the active ones
  std::vector<std::int32_t> border_at_;         // by rank, if it is active: its index in borders_
  std::vector<Settled> settled_;                // none of them active
  std::vector<Settlement> settlements_;  // by EarlySlots::window_key, if they are not too many
  std::vector<Touch> touched_;           // by messages of borders to live processes, in order
  // By word, of the last words that were swept: who has a side open.
  std::vector<std::uint64_t> left_open_;
  std::vector<std::uint64_t> right_open_;
  std::vector<std::uint64_t> either_open_;
  std::int32_t last_early_ = 0;  // slot before early_.end() in which somebody sends
  std::int64_t epoch_ = 0;
};

}  // namespace resprout::sim
