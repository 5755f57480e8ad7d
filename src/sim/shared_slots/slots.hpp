// The slots in the world of shared slots (world.hpp).
// Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "protocols/shared_slots/slot.hpp"

namespace resprout::sim {

class WorldSlots {
 public:
  // Without padding: there are many, and a world is digested by its bytes.
  struct Slot {
    std::uint32_t number = 0;
    protocols::SlotWord word = protocols::SlotWord::empty;
    std::uint8_t payload = 0;           // what the program's place of the writer is called
    std::uint16_t left_out_before = 0;  // 0, or 1 + the number of what has left it out

    bool is_left_out_of(const protocols::SharedSlot& slot) const {
      return left_out_before == slot.number + 1;
    }
  };
  static_assert(std::has_unique_object_representations_v<Slot>);

  // `are_lives_one`: all lives have the same slots. There is one life at first.
  WorldSlots(const protocols::SharedSlotsConfig& config, bool are_lives_one)
      : config_(config), are_lives_one_(are_lives_one) {
    grow(1);
  }
  void grow(std::size_t lives) {
    all_.resize((are_lives_one_ ? 1 : lives) * static_cast<std::size_t>(config_.members) * each());
  }

  Slot& of(int life, int owner, const protocols::SharedSlot& slot) {
    return all_[place(life, owner, slot)];
  }
  const Slot& of(int life, int owner, const protocols::SharedSlot& slot) const {
    return all_[place(life, owner, slot)];
  }
  const std::vector<Slot>& all() const { return all_; }

 private:
  std::size_t each() const { return config_.rendezvous_slots + config_.broadcast_slots; }
  std::size_t place(int life, int owner, const protocols::SharedSlot& slot) const {
    const std::size_t in_memory = are_lives_one_ ? 0 : static_cast<std::size_t>(life);
    const std::size_t area =
        (in_memory * static_cast<std::size_t>(config_.members) + static_cast<std::size_t>(owner)) *
        each();
    if (slot.kind == protocols::SlotKind::rendezvous) return area + slot.index;
    return area + config_.rendezvous_slots + slot.index % config_.broadcast_slots;
  }

  protocols::SharedSlotsConfig config_;  // of all members
  bool are_lives_one_;
  std::vector<Slot> all_;  // by life and owner; those of rendezvous first
};

}  // namespace resprout::sim
