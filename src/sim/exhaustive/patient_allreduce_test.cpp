// Every interleaving of small patient allreduces. Calls come at any time, or never; deaths and
// suspicions at any time. What would go wrong with one rule less is found.
#include "protocols/patient_allreduce/patient_allreduce.hpp"

#include <vector>

#include "doctest/doctest.h"
#include "sim/adversary/world.hpp"
#include "sim/checkers/outcome.hpp"
#include "sim/exhaustive/explore.hpp"

namespace resprout::sim {
namespace {

using protocols::PatientAllreduce;
using protocols::PatientAllreduceConfig;

// Waits for ever.
class WithoutQuestions : public PatientAllreduce {
 public:
  using PatientAllreduce::PatientAllreduce;

  Deadline poll_timeout(const Context&) const { return {}; }
};

// Asks nobody above it.
class WithoutQuestionsAbove : public PatientAllreduce {
 public:
  using PatientAllreduce::PatientAllreduce;

  std::optional<Message> poll_send(const Context& context) {
    PatientAllreduce before = *this;
    auto message = PatientAllreduce::poll_send(context);
    if (!message || message->kind != MessageKind::pull || message->to > message->from)
      return message;
    static_cast<PatientAllreduce&>(*this) = before;
    return std::nullopt;
  }
};

// Asks nobody once there is a suspicion.
class WithoutQuestionsAnew : public PatientAllreduce {
 public:
  using PatientAllreduce::PatientAllreduce;

  std::optional<Message> poll_send(const Context& context) {
    PatientAllreduce before = *this;
    auto message = PatientAllreduce::poll_send(context);
    if (!message || message->kind != MessageKind::pull || context.suspects.empty()) return message;
    static_cast<PatientAllreduce&>(*this) = before;
    return std::nullopt;
  }
};

// Gives its input in a later round if its call has come by then, and owes it all the same.
class WithoutAbstaining : public PatientAllreduce {
 public:
  using PatientAllreduce::PatientAllreduce;

  std::optional<Event> poll_event(const Context& context) {
    auto event = PatientAllreduce::poll_event(context);
    if (!event || !is_late() || !has_called() || event->subject.round == 0) return event;
    if (event->kind == EventKind::restart && event->subject.slot == Slot::none)
      event->subject.slot = Slot::input;
    if (event->kind == EventKind::exclude && event->subject.from == event->subject.to)
      return PatientAllreduce::poll_event(context);
    return event;
  }
};

// Takes itself for late when its own patience ends.
class ByItsOwnClock : public PatientAllreduce {
 public:
  using PatientAllreduce::PatientAllreduce;

  void handle_timeout(const Context& context) {
    PatientAllreduce::handle_timeout(context);
    was_woken_ = 1;
  }
  bool is_late() const { return PatientAllreduce::is_late() || was_woken_ != 0; }

 private:
  std::uint64_t was_woken_ = 0;
};

constexpr int nobody = -1;

struct Given {
  int procs;
  int crashes;
  bool suspects_the_living;
  int away = nobody;  // whose call never comes
};

template <Machine M, typename Check>
Exploration explore_patient(const Given& given, const Check& check) {
  const PatientAllreduceConfig config(given.procs, 2, 0);
  std::vector<M> machines;
  std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
  for (int i = 0; i < given.procs; ++i) {
    machines.emplace_back(config, rank_at(i));
    inputs[static_cast<std::size_t>(i)].contributors = std::uint64_t{1} << i;
  }
  World<M> start(machines, inputs, 0);
  for (int i = 0; i < given.procs; ++i)
    start.apply({ActionKind::enter, static_cast<std::uint8_t>(i)});
  if (given.away != nobody) start.keep_away(given.away);
  Limits limits;
  limits.mischief = {given.crashes, given.suspects_the_living, true};
  return explore(start, limits, check);
}

template <Machine M>
Exploration explore_patient(const Given& given) {
  return explore_patient<M>(given, check_allreduce);
}

TEST_CASE("explored: all who live get the same, and what they give is in it or owed, never both") {
  for (const Given given :
       {Given{2, 1, true}, Given{3, 2, true}, Given{4, 0, false}, Given{5, 0, false}}) {
    CAPTURE(given.procs);
    CAPTURE(given.crashes);
    const Exploration found = explore_patient<PatientAllreduce>(given);
    CHECK(found.violation == "");
    CHECK(found.is_complete);
    MESSAGE(given.procs << " processes, " << given.crashes << " may die: " << found.states
                        << " states");
  }
}

TEST_CASE("explored: nobody waits for ever for a call that never comes") {
  for (int away = 0; away < 4; ++away) {
    CAPTURE(away);
    const Exploration found = explore_patient<PatientAllreduce>({4, 1, false, away});
    CHECK(found.violation == "");
    MESSAGE("4 processes, 1 may die, " << away << " never calls: " << found.states << " states");
  }
}

TEST_CASE("explored: nobody is late while nobody's patience has ended") {
  const auto check = [](std::span<const Outcome> outcomes) -> Verdict {
    for (const Outcome& outcome : outcomes)
      if (outcome.is_survivor && outcome.is_late) return "somebody is late";
    return check_allreduce(outcomes);
  };
  CHECK(explore_patient<WithoutQuestions>({4, 2, false}, check).violation == "");
  CHECK(explore_patient<PatientAllreduce>({3, 0, false}, check).violation == "somebody is late");
}

TEST_CASE("explored: somebody waits for ever if nobody asks") {
  CHECK(explore_patient<WithoutQuestions>({3, 0, false, 1}).violation != "");
}

TEST_CASE("explored: somebody waits for ever if nobody asks those above") {
  CHECK(explore_patient<WithoutQuestionsAbove>({3, 0, false, 0}).violation != "");
}

TEST_CASE("explored: somebody waits for ever if nobody is asked behind a lost one") {
  CHECK(explore_patient<WithoutQuestionsAnew>({4, 1, false, 3}).violation != "");
}

TEST_CASE("explored: something is given twice if a late process gives in a later round") {
  CHECK(explore_patient<WithoutAbstaining>({3, 1, false}).violation != "");
}

TEST_CASE(
    "explored: something is given twice if a process decides by its own clock that it is late") {
  CHECK(explore_patient<ByItsOwnClock>({3, 0, false}).violation != "");
}

}  // namespace
}  // namespace resprout::sim
