// What happens in the world of shared slots, in words for a person.
#include "sim/shared_slots/world.hpp"

namespace resprout::sim {
namespace {

std::string words_of(const protocols::SlotGroup& group) {
  return "members " + std::to_string(group.first) + " to " + std::to_string(group.end - 1);
}

}  // namespace

std::string SharedSlotsWorld::describe(const Action& action) const {
  const std::string a = std::to_string(action.a);
  switch (action.kind) {
    case ActionKind::wake:
      return a + " " + describe_step(action.a, action.b != without_records);
    case ActionKind::interrupt:
      if (action.b == by_revocation) return a + " hears that the communicator is revoked";
      return a + " is interrupted in operation " + std::to_string(at(action.a).operation + 1) +
             ", of the library";
    case ActionKind::suspect:
      return a + " suspects " + std::to_string(action.b) +
             (at(action.b).is_alive ? ", which still runs" : "");
    case ActionKind::crash:
      return a + " dies";
    default:
      return "?";
  }
}

std::string SharedSlotsWorld::describe_step(int rank, bool sees_records) const {
  const Process& process = at(rank);
  const std::string operation = "operation " + std::to_string(process.operation + 1);
  if (process.is_settling)
    return (scene_->runs_again ? "runs again " : "settles ") + operation + " with the others";
  const std::string which = (process.is_behind ? "the rendezvous behind " : "") + operation;
  if (process.is_writing && process.half.is_record)
    return "has written the record of " + words_of(process.half.group) + " for " + which;
  if (process.is_writing)
    return process.half.write.word == protocols::SlotWord::left
               ? "leaves " + which
               : "has written its slot of " + which;
  static constexpr const char* words[] = {"empty for ever", "full", "left"};
  if (!process.is_in_shared_slots && has_to_run_again(process))
    return "comes to " + operation + ", for which there are no shared slots";
  if (!process.is_in_shared_slots) {
    switch (operation_of(process).kind) {
      case SlotOperation::Kind::broadcast:
        return "begins " + operation + ", a broadcast of " +
               std::to_string(operation_of(process).root);
      case SlotOperation::Kind::rendezvous:
        return "begins " + operation + ", a rendezvous";
      case SlotOperation::Kind::gather:
        return "begins " + operation + ", a gather to " +
               std::to_string(operation_of(process).root);
      case SlotOperation::Kind::bearing_rendezvous:
        return "begins " + operation + ", a rendezvous that bears losses";
      case SlotOperation::Kind::scan:
        return "begins " + operation + ", a scan";
      case SlotOperation::Kind::native:
        return "is through " + operation + ", of the library";
      case SlotOperation::Kind::native_rendezvous:
        return "comes to the rendezvous at the end of " + operation + ", of the library";
    }
  }
  switch (process.machine.step()) {
    case Machine::Step::write:
      return "has written its slot of " + which;
    case Machine::Step::look: {
      if (const auto record = sees_records ? record_for(process) : std::nullopt)
        return "finds the record of " + words_of(*record) + " for " + which;
      const int other = awaited(process);
      return "finds the slot of " + std::to_string(other) + " for " + which + " " +
             words[static_cast<int>(seen_by(process))];
    }
    case Machine::Step::record:
    case Machine::Step::record_all:
      return "has seen all slots of a group full for " + which;
    case Machine::Step::read:
      return "reads the result of " + which;
    case Machine::Step::none:
    case Machine::Step::over:
      break;
  }
  return "?";
}

}  // namespace resprout::sim
