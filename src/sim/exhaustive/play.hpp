// One way through a world, told by a text: commands, each block of them followed by what happened.
// In the manner of raft's testdata: the text is written by hand up to each line of dashes, what
// stands below comes from here, is rewritten by a flag and reviewed by its difference.
//
//     # of two decisions the later one stands
//     case --spec ftco-allreduce:k=4 --procs 5 --crashes 3 --slander --enter-first
//
//     tell 1 0        1 sends what it has to send up to a message to 0, which then arrives
//     ----
//     1 sends to 0: contribution of round 0 with input
//     0 receives from 1: contribution of round 0 with input
//
// Commands: `tell A B`; `send A B`, the first half of that; `rest`, in which all happens that must,
// in one order, and whose trace ends with what became of the promises; and one of the kinds of
// actions with its processes: `enter A`, `deliver A B`, `wake A`, `suspect A B`, `crash A`,
// `lose A B`, `corrupt A B`, `interrupt A`. Several As, for `enter` and `crash`, or Bs, for
// `suspect`, may stand behind each other.
// Thread rule: no shared state.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/exhaustive/explore.hpp"

namespace resprout::sim {

struct Command {
  std::string word;
  std::vector<int> numbers;
};

struct Script {
  std::string path;
  std::vector<std::string> head;  // comments and the case
  std::string options;            // of the case
  struct Block {
    std::vector<std::string> lines;  // as they stand there
    std::vector<Command> commands;
    std::vector<std::string> trace;  // as it stood there
  };
  std::vector<Block> blocks;
};

// What came of a script.
struct Played {
  std::vector<std::vector<std::string>> traces;  // of each block
  bool is_possible = true;                       // every command was
  std::string violation;
};

template <typename World, typename Check>
class Player {
 public:
  Player(const World& start, const Limits& limits, const Check& check)
      : world_(start), limits_(limits), check_(check) {}

  Played play(const Script& script) {
    for (const Script::Block& block : script.blocks) {
      played_.traces.emplace_back();
      for (const Command& command : block.commands)
        if (played_.is_possible && !maybe_do(command)) {
          std::string what = "impossible: " + command.word;
          for (const int number : command.numbers) what += " " + std::to_string(number);
          say(what);
          played_.is_possible = false;
        }
    }
    if (played_.violation.empty()) played_.violation = world_.violation();
    return std::move(played_);
  }

 private:
  static constexpr int steps_max = 10'000;

  void say(const std::string& what) { played_.traces.back().push_back(what); }

  const std::vector<Action>& list() {
    world_.list_actions(mischief_left(world_, limits_.mischief), actions_);
    return actions_;
  }
  bool maybe_act(ActionKind kind, int a, int b = 0) {
    const Action wanted{kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
    const std::vector<Action>& all = list();
    if (std::find(all.begin(), all.end(), wanted) == all.end()) return false;
    act(wanted);
    return true;
  }
  void act(const Action& action) {
    say(world_.describe(action));
    world_.apply(action);
  }

  bool maybe_do(const Command& command) {
    const std::vector<int>& numbers = command.numbers;
    if (command.word == "rest") return maybe_rest();
    if (numbers.empty()) return false;
    if (command.word == "enter") return maybe_do_all(ActionKind::enter, numbers);
    if (command.word == "crash") return maybe_do_all(ActionKind::crash, numbers);
    if (command.word == "wake") return maybe_do_all(ActionKind::wake, numbers);
    if (command.word == "interrupt") return maybe_do_all(ActionKind::interrupt, numbers);
    if (numbers.size() < 2) return false;
    const int a = numbers[0];
    const int b = numbers[1];
    if (command.word == "suspect")
      return std::all_of(numbers.begin() + 1, numbers.end(),
                         [&](int other) { return maybe_act(ActionKind::suspect, a, other); });
    if (command.word == "send") return maybe_send(a, b);
    if (command.word == "tell") return maybe_send(a, b) && maybe_deliver(a, b);
    if (command.word == "deliver") return maybe_deliver(a, b);
    if (command.word == "lose") return maybe_act(ActionKind::lose, a, b);
    return command.word == "corrupt" && maybe_act(ActionKind::corrupt, a, b);
  }
  bool maybe_do_all(ActionKind kind, const std::vector<int>& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return maybe_act(kind, rank); });
  }
  bool maybe_deliver(int from, int to) {
    // Where there are two channels, the other one.
    return maybe_act(ActionKind::deliver, from, to) ||
           maybe_act(ActionKind::deliver, from, to | 0x80);
  }
  // Up to a message to `to`, of which there may be one already.
  bool maybe_send(int from, int to) {
    const Action arrives{ActionKind::deliver, static_cast<std::uint8_t>(from),
                         static_cast<std::uint8_t>(to)};
    for (int step = 0; step < steps_max; ++step) {
      const std::vector<Action>& all = list();
      if (std::find(all.begin(), all.end(), arrives) != all.end()) return true;
      if (!maybe_act(ActionKind::send, from)) return false;
    }
    return false;
  }

  // What must happen, crashes of the doomed last.
  bool maybe_rest() {
    for (int step = 0; step < steps_max && world_.violation().empty(); ++step) {
      std::optional<Action> next;
      for (const Action& action : list())
        if (must_happen(action) && (!next || action.kind != ActionKind::crash)) next = action;
      if (!next) {
        played_.violation = check_(world_.outcomes()).value_or("");
        break;
      }
      act(*next);
    }
    const std::string& broken = world_.violation().empty() ? played_.violation : world_.violation();
    say(broken.empty() ? "all promises kept" : broken);
    return true;
  }
  bool must_happen(const Action& action) const {
    if (action.kind == ActionKind::crash) return world_.is_doomed(action.a);
    if (action.kind == ActionKind::suspect) return world_.is_doomed(action.b);
    return action.kind != ActionKind::corrupt && action.kind != ActionKind::interrupt &&
           action.kind != ActionKind::lose;
  }

  World world_;
  const Limits& limits_;
  const Check& check_;
  std::vector<Action> actions_;
  Played played_;
};

}  // namespace resprout::sim
