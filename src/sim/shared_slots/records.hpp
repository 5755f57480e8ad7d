// The records of groups in the world of shared slots (world.hpp): of rendezvous, and of scans,
// where a group are all up to some member. Whoever of the members begins one writes it, in two
// steps: what the record says, and then that it is there.
// Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "protocols/shared_slots/shared_slots.hpp"

namespace resprout::sim {

class WorldRecords {
 public:
  // Of one operation over the shared slots of a life.
  struct Which {
    int life = 0;
    protocols::SlotGroup group{};
    protocols::SharedSlot slot{};
  };
  // Without padding: a world is digested by its bytes.
  struct Record {
    std::uint32_t number = 0;  // of the operation, among those of its kind
    std::uint16_t payload = 0;
    bool is_begun = false;
    bool is_there = false;
  };
  static_assert(std::has_unique_object_representations_v<Record>);

  // There is one life at first.
  explicit WorldRecords(const protocols::SharedSlotsConfig& config) : config_(config) { grow(1); }
  void grow(std::size_t lives) {
    if (config_.group < config_.members) all_.resize(lives * members() * each());
  }

  bool is_begun(const Which& which) const { return is_of(which) && at(which).is_begun; }
  bool is_there(const Which& which) const { return is_of(which) && at(which).is_there; }
  std::uint16_t payload(const Which& which) const { return at(which).payload; }

  void begin(const Which& which) {
    own(which) = {static_cast<std::uint32_t>(which.slot.number), 0, true, false};
  }
  void put_payload(const Which& which, std::uint16_t payload) { own(which).payload = payload; }
  void show(const Which& which) { own(which).is_there = true; }

  const std::vector<Record>& all() const { return all_; }

 private:
  bool is_of(const Which& which) const { return at(which).number == which.slot.number; }
  const Record& at(const Which& which) const { return all_[place(which)]; }
  Record& own(const Which& which) { return all_[place(which)]; }
  std::size_t members() const { return static_cast<std::size_t>(config_.members); }
  std::size_t each() const { return 2 * config_.rendezvous_slots + config_.broadcast_slots; }
  // By life and member: the first one in a rendezvous, where the record of a group comes before
  // that of all, and the last one in a scan.
  std::size_t place(const Which& which) const {
    const bool is_scan = which.slot.kind == protocols::SlotKind::broadcast;
    const int member = is_scan ? which.group.end - 1 : which.group.first;
    const std::size_t first =
        (static_cast<std::size_t>(which.life) * members() + static_cast<std::size_t>(member)) *
        each();
    if (is_scan)
      return first + 2 * config_.rendezvous_slots + which.slot.index % config_.broadcast_slots;
    const bool is_of_all = which.group.end - which.group.first > config_.group;
    return first + (is_of_all ? config_.rendezvous_slots : 0) + which.slot.index;
  }

  protocols::SharedSlotsConfig config_;  // of all members
  std::vector<Record> all_;
};

}  // namespace resprout::sim
