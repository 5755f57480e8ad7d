// resprout_explore: every interleaving of a small operation, with every crash at every point.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/invariant.hpp"
#include "sim/exhaustive/cases.hpp"
#include "sim/exhaustive/script.hpp"

namespace resprout::sim {
namespace {

constexpr const char* usage =
    "usage: resprout_explore [--spec SPEC] [--procs P] [--crashes N] [option]...\n"
    "       resprout_explore --scenario FILE [--rewrite]\n"
    "Goes through every interleaving of one operation of P processes, N of which may die at any\n"
    "moment, and checks every promise. Prints the number of states; of a violation, the shortest "
    "way.\n"
    "  --scenario FILE     one way, as the file tells it; --rewrite: writes down what happened\n"
    "  --spec SPEC         a protocol and its options, as for `resprout sim`; --root R: its root\n"
    "  --dead N            N others are dead before anything happens; all choices are explored\n"
    "  --slander           those who will die may be suspected while they still run\n"
    "  --loss              what the dead have sent last may be lost\n"
    "  --offers            corrections travel without their payload\n"
    "  --enter-first       all processes enter before anything else happens\n"
    "  --full              without the reduction for messages that are ignored\n"
    "  --states-max N      give up there; 0: never\n"
    "  --joiners N         membership: the last N of the processes join later; --low: the first N\n"
    "  --returns N         membership:views=local: the dead and the excluded come back, N times\n"
    "  --initiators N      revoke: so many revoke, from the root on\n"
    "  --proofs            membership: that somebody is dead is proven to who suspects it\n"
    "  --probes            membership: who is isolated probes those whom it suspects\n"
    "  --corruption        digest-vote: one thing may be silently corrupted, at any moment\n"
    "  --defect WORD       break a rule on purpose: promise, memory, suspicions or forwarding; of\n"
    "                      agree also: confirmation or acknowledgment; of\n"
    "                      membership: fence, proof or view; of digest-vote: origins, shares\n"
    "                      or suspicions; of decision-log: settling, inquiry, promise or\n"
    "                      suspicions; of shared slots: silence, finality, slots, rendezvous, "
    "stamp,\n"
    "                      suspicions, lives, names, areas, hearsay, haste, shortness or\n"
    "                      patience; of link-watch: detector, reading, answers or verdict\n";

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "resprout_explore: " << why << '\n' << usage;
  std::exit(2);
}

std::uint64_t parse_number(std::string_view option, const char* text) {
  std::uint64_t value = 0;
  const std::string_view given = text == nullptr ? "" : text;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc{} || end != given.data() + given.size() || given.empty())
    give_up(std::string(option) + " needs a number, not '" + std::string(given) + "'");
  return value;
}

bool parse_flag(std::string_view option, Case& given) {
  if (option == "--slander")
    given.limits.mischief.suspects_the_living = true;
  else if (option == "--loss")
    given.limits.mischief.loses_messages = true;
  else if (option == "--probes")
    given.probes = true;
  else if (option == "--proofs")
    given.proves = true;
  else if (option == "--corruption")
    given.corrupts = true;
  else if (option == "--low")
    given.joins_low = true;
  else if (option == "--offers")
    given.offers = true;
  else if (option == "--enter-first")
    given.enters_late = false;
  else if (option == "--full")
    given.limits.is_reduced = false;
  else
    return false;
  return true;
}

Case parse(char** arguments) {
  Case given;
  while (*arguments != nullptr) {
    const std::string_view option = *arguments++;
    if (option == "--help") {
      std::cout << usage;
      std::exit(0);
    }
    if (parse_flag(option, given)) continue;
    const char* value = *arguments;
    const std::string text = value == nullptr ? "" : value;
    const auto number = [&] { return static_cast<int>(parse_number(option, value)); };
    if (option == "--spec")
      given.spec = text;
    else if (option == "--defect")
      given.defect = text;
    else if (option == "--procs")
      given.procs = number();
    else if (option == "--crashes")
      given.limits.mischief.crashes = number();
    else if (option == "--root")
      given.root = number();
    else if (option == "--dead")
      given.dead = number();
    else if (option == "--joiners")
      given.joiners = number();
    else if (option == "--returns")
      given.returns = number();
    else if (option == "--initiators")
      given.initiators = number();
    else if (option == "--states-max")
      given.limits.states_max = parse_number(option, value);
    else
      give_up("there is no option '" + std::string(option) + "'");
    if (value != nullptr) ++arguments;
  }
  const std::string why = refuse(given);
  if (!why.empty()) give_up(why);
  return given;
}

// The words of a text as the arguments of a program.
Case parse_text(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return parse(arguments.data());
}

int play(const std::string& path, bool rewrites) {
  const auto read = read_script(path);
  if (const auto* wrong = std::get_if<std::string>(&read)) give_up(*wrong);
  const auto& script = std::get<Script>(read);
  Case given = parse_text(script.options);
  given.script = &script;
  const Played played = explore_case(given).played;
  const std::string text = text_of(script, played.traces);
  if (rewrites) std::ofstream(path) << text;
  const bool is_as_told = rewrites || are_as_told(script, played.traces);
  if (is_as_told && played.is_possible && played.violation.empty()) return 0;
  std::cout << text << (is_as_told ? "" : "\nThis is not what the file tells.\n");
  if (!played.violation.empty()) std::cout << "violation: " << played.violation << '\n';
  return 1;
}

int run(char** arguments) {
  const std::string_view first = *arguments == nullptr ? "" : *arguments;
  if (first == "--scenario" && arguments[1] != nullptr) {
    const bool rewrites = arguments[2] != nullptr && std::string_view(arguments[2]) == "--rewrite";
    return play(arguments[1], rewrites);
  }
  const Case given = parse(arguments);
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const Finding finding = explore_case(given);
  const Exploration& result = finding.exploration;
  const std::chrono::duration<double> seconds = Clock::now() - began;
  std::printf(
      "%s of %d, %d may die: %llu states, %llu steps, %llu ends, longest way %llu, %.1f s\n",
      given.spec.c_str(), given.procs, given.limits.mischief.crashes,
      static_cast<unsigned long long>(result.states), static_cast<unsigned long long>(result.steps),
      static_cast<unsigned long long>(result.ends), static_cast<unsigned long long>(result.depth),
      seconds.count());
  if (!result.violation.empty()) {
    const bool has_shortest = !finding.shortest.violation.empty();
    const auto [violation, way] =
        has_shortest ? finding.shortest : Counterexample{result.violation, result.way};
    std::printf("violation: %s\n%zu steps:\n", violation.c_str(), way.size());
    for (const std::string& step : way) std::printf("  %s\n", step.c_str());
    return 1;
  }
  std::puts(result.is_complete ? "all promises kept in every state" : "not complete");
  return result.is_complete ? 0 : 3;
}

}  // namespace
}  // namespace resprout::sim

void resprout::say_broken(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "resprout_explore: at %s:%d this does not hold: %s\n", file, line,
               condition);
}

int main(int, char** argv) { return resprout::sim::run(argv + 1); }
