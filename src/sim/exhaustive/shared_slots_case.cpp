// See shared_slots_case.hpp.
#include "sim/exhaustive/shared_slots_case.hpp"

#include <optional>

#include "sim/exhaustive/examine.hpp"
#include "sim/shared_slots/world.hpp"

namespace resprout::sim {
namespace {

using Kind = SlotOperation::Kind;

std::optional<SharedSlotsDefect> shared_slots_defect_of(const std::string& word) {
  if (word.empty()) return SharedSlotsDefect::none;
  if (word == "silence") return SharedSlotsDefect::silence;
  if (word == "finality") return SharedSlotsDefect::finality;
  if (word == "slots") return SharedSlotsDefect::slots;
  if (word == "rendezvous") return SharedSlotsDefect::rendezvous;
  if (word == "stamp") return SharedSlotsDefect::stamp;
  if (word == "suspicions") return SharedSlotsDefect::suspicions;
  if (word == "lives") return SharedSlotsDefect::lives;
  if (word == "names") return SharedSlotsDefect::names;
  if (word == "areas") return SharedSlotsDefect::areas;
  if (word == "hearsay") return SharedSlotsDefect::hearsay;
  if (word == "haste") return SharedSlotsDefect::haste;
  if (word == "shortness") return SharedSlotsDefect::shortness;
  if (word == "patience") return SharedSlotsDefect::patience;
  return std::nullopt;
}

// A power of 2 that members never exceed: none are in groups.
constexpr std::int32_t members_bound = 32;

// With gathers and rendezvous that bear losses: less of the others.
constexpr int kinds_with_gathers = 6;

SlotOperation gathering_operation_of(int number, int procs) {
  switch (number) {
    case 0:
      return {Kind::gather, 0};
    case 1:
      return {Kind::gather, static_cast<std::uint8_t>(procs - 1)};
    case 2:
      return {Kind::scan};
    case 3:
      return {Kind::broadcast, 0};
    case 4:
      return {Kind::native};
    default:
      return {Kind::bearing_rendezvous};
  }
}

// Operation `number` of those that there are: the broadcasts, by root, then the others.
SlotOperation operation_of(int number, int procs) {
  if (number < procs) return {Kind::broadcast, static_cast<std::uint8_t>(number)};
  return {number == procs       ? Kind::rendezvous
          : number == procs + 1 ? Kind::native
                                : Kind::native_rendezvous};
}

// The program behind this one, in the order of numbers; false: there is none.
bool maybe_step(std::vector<int>& numbers, int kinds) {
  for (int& number : numbers) {
    if (++number < kinds) return true;
    number = 0;
  }
  return false;
}

}  // namespace

std::string refuse_shared_slots(const Case& given, const registry::Spec&) {
  if (given.root != 0) return "--root is 0 for shared slots: every member is that of a broadcast";
  if (given.dead > 0) return "--dead is for protocols without a detector; use --crashes";
  if (given.offers) return "--offers is for reliable broadcasts";
  if (!shared_slots_defect_of(given.defect))
    return "--defect is silence, finality, slots, rendezvous, stamp, suspicions, lives, names, "
           "areas, hearsay, haste, shortness or patience for shared slots";
  return "";
}

Finding explore_shared_slots(const Case& given, const registry::Spec& spec) {
  SharedSlotsScene scene;
  const std::int32_t group = spec.shared_slots.group;
  scene.config = {given.procs, static_cast<std::uint32_t>(spec.broadcasts), 2,
                  group == 0 ? members_bound : group};
  scene.may_be_revoked = spec.may_be_revoked;
  scene.runs_again = spec.shared_slots.runs_again;
  scene.defect = *shared_slots_defect_of(given.defect);
  scene.have_met = spec.shared_slots.gathers == registry::Gathers::met;
  scene.lacks_area = spec.shared_slots.gathers == registry::Gathers::lacking;
  if (scene.defect == SharedSlotsDefect::areas) scene.have_met = scene.lacks_area = true;
  const bool has_gathers = spec.shared_slots.gathers != registry::Gathers::none;
  const int kinds = has_gathers ? kinds_with_gathers : given.procs + 3;
  std::vector<int> numbers(static_cast<std::size_t>(spec.operations));
  Finding finding;
  do {
    scene.program.clear();
    for (const int number : numbers)
      scene.program.push_back(has_gathers ? gathering_operation_of(number, given.procs)
                                          : operation_of(number, given.procs));
    const SharedSlotsWorld start(scene);
    if (!examine(start, given, given.limits, check_shared_slots, finding)) break;
  } while (maybe_step(numbers, kinds));
  return finding;
}

}  // namespace resprout::sim
