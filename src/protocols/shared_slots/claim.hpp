// How a member comes to the shared slots of a name, and how it goes: so that each owner of memory
// there learns when nobody looks at it any more. docs/explanation/adr/032 says what for.
//
// Each member has an entry, which it alone makes and frees: the name, whether its owner is over,
// and a mark for each other member that is. A member knows of those that came before it by their
// entries; of those that come later it knows nothing, and they have to find that it was there. An
// entry is free to be used for another name when all other members are marked in it, or have ended.
//
// The driver does the step that the machine is at, and says so:
//   enter      it makes its own entry
//   look       whether other()'s entry is there, and says that its owner is over
//   mark_own   it marks other() in its own entry
//   none       it takes part, until go()
//   say_over   its own entry says that it is over
//   find       whether other()'s entry is there
//   mark       it marks itself in the entry that was found
//   done
// Each is one step for all members, who see them in one order (sequential consistency).
//
// Invariants
//  1. Who comes enters before it looks, and who goes says so before it finds: so of two at least
//     one sees the other.
//  2. A mark is of one use of an entry: what was found may have been freed before it is marked, as
//     its owner has marked it, too, and may be used again.
// Thread rule: a value.
#pragma once

#include <cstdint>

#include "core/invariant.hpp"
#include "core/rank.hpp"

namespace resprout::protocols {

class SlotClaim {
 public:
  enum class Step : std::uint8_t { enter, look, mark_own, none, say_over, find, mark, done };

  // REQUIRES: 0 <= self < members. `first`: `enter`, or `say_over` of one that has come.
  SlotClaim(std::int32_t members, Rank self, Step first = Step::enter)
      : members_(members), self_(index(self)), step_(first) {}

  Step step() const { return step_; }
  // REQUIRES: it is at a step that has one.
  Rank other() const { return rank_at(other_); }

  // REQUIRES: it is at `none`.
  void go() {
    RESPROUT_INVARIANT(step_ == Step::none);
    step_ = Step::say_over;
  }
  // It was done. `is_so`: the answer, at `look` and `find`.
  void handle(bool is_so = false) {
    switch (step_) {
      case Step::enter:
        return ask(Step::look, 0);
      case Step::look:
        return is_so ? become(Step::mark_own) : ask(Step::look, other_ + 1);
      case Step::mark_own:
        return ask(Step::look, other_ + 1);
      case Step::say_over:
        return ask(Step::find, 0);
      case Step::find:
        return is_so ? become(Step::mark) : ask(Step::find, other_ + 1);
      case Step::mark:
        return ask(Step::find, other_ + 1);
      case Step::none:
      case Step::done:
        RESPROUT_INVARIANT(false);
    }
  }

 private:
  void become(Step step) { step_ = step; }
  void ask(Step step, std::int32_t other) {
    other_ = other == self_ ? other + 1 : other;
    if (other_ < members_)
      step_ = step;
    else
      step_ = step == Step::look ? Step::none : Step::done;
  }

  std::int32_t members_;
  std::int32_t self_;
  std::int32_t other_ = 0;
  Step step_;
};

}  // namespace resprout::protocols
