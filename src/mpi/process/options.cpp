#include "mpi/process/options.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "topology/radix_tree.hpp"

namespace resprout::shim {
namespace {

using std::string;
using std::string_view;

constexpr string_view fault_forms =
    "kill:rank=3,at=2s, kill:rank=0,at=allreduce#40, stop:rank=2,at=1s, "
    "exit:rank=1,at=bcast#3,status=1, flip:rank=3,message=100,bit=17, "
    "flip:rank=3,collective=20,bit=17, "
    "flip:rank=3,where=memory,checkpoint=2,bit=17 or "
    "flip:rank=3,where=process|stack|heap|data,at=send#9,bit=17; times in s, ms or us; "
    "several with ';' between them";

// Options of `resprout run` that are the launcher's business alone, or that of a part which looks
// for itself (process/report/position.hpp, policies/checkpoints/lasting_checkpoints.hpp), but may
// stand in its environment and so in ours.
constexpr std::array launcher_names{"RESPROUT_CALIBRATION",
                                    "RESPROUT_CALL_TIMEOUT",
                                    "RESPROUT_CHECKPOINT_CODE",
                                    "RESPROUT_CHECKPOINT_DIR",
                                    "RESPROUT_CHECKPOINT_MEMORY",
                                    "RESPROUT_COMMIT_OUTPUT",
                                    "RESPROUT_CONFIG",
                                    "RESPROUT_FILES_EVERY",
                                    "RESPROUT_LOG_LEVEL",
                                    "RESPROUT_MAX_RESTARTS",
                                    "RESPROUT_METRICS",
                                    "RESPROUT_MPI",
                                    "RESPROUT_MPIRUN_ARGS",
                                    "RESPROUT_ON_CALL_TIMEOUT",
                                    "RESPROUT_ON_UNVERIFIED",
                                    "RESPROUT_REPLICA_HOSTS",
                                    "RESPROUT_REPORT",
                                    "RESPROUT_RESTART",
                                    "RESPROUT_RESTART_COMMAND",
                                    "RESPROUT_RESUME",
                                    "RESPROUT_SHORT_LIFE",
                                    "RESPROUT_SPARES",
                                    "RESPROUT_SPARE_HOSTS",
                                    "RESPROUT_STANDBY",
                                    "RESPROUT_STRAGGLER_WAIT",
                                    "RESPROUT_STRICT"};

// Splits off what stands before the first `separator`; all of it if there is none.
string_view take_until(string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const string_view head = rest.substr(0, at);
  rest = at == string_view::npos ? string_view{} : rest.substr(at + 1);
  return head;
}

template <typename Number>
bool parse_number(string_view text, Number& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_duration(string_view text, double& seconds) {
  struct Unit {
    string_view suffix;
    double seconds;
  };
  for (const Unit unit : {Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"s", 1.0}}) {
    if (!text.ends_with(unit.suffix)) continue;
    text.remove_suffix(unit.suffix.size());
    if (!parse_number(text, seconds)) return false;
    seconds *= unit.seconds;
    return true;
  }
  return false;
}

bool is_call_name(string_view text) {
  for (const char c : text)
    if ((c < 'a' || c > 'z') && c != '_') return false;
  return !text.empty();
}

// `2s`, or `allreduce#40`.
bool parse_moment(string_view text, Fault& fault) {
  if (text.find('#') == string_view::npos) {
    double seconds = 0;
    if (!parse_duration(text, seconds)) return false;
    fault.at_s = seconds;
    return true;
  }
  const string_view call = take_until(text, '#');
  fault.call = call;
  return is_call_name(call) && parse_number(text, fault.count) && fault.count > 0;
}

bool parse_kind(string_view text, Fault::Kind& kind) {
  using Row = std::pair<string_view, Fault::Kind>;
  for (const auto& [name, meaning] :
       {Row{"kill", Fault::Kind::kill}, Row{"stop", Fault::Kind::stop},
        Row{"exit", Fault::Kind::exit}, Row{"flip", Fault::Kind::flip}}) {
    if (name != text) continue;
    kind = meaning;
    return true;
  }
  return false;
}

// Whether it is memory, be it what the program protects.
bool parse_area(string_view text, Fault::Area& area) {
  using Area = Fault::Area;
  using Row = std::pair<string_view, Area>;
  for (const auto& [name, meaning] :
       {Row{"memory", Area::none}, Row{"process", Area::process}, Row{"stack", Area::stack},
        Row{"heap", Area::heap}, Row{"data", Area::data}}) {
    if (name != text) continue;
    area = meaning;
    return true;
  }
  return false;
}

// `key`: of a flip, but for its rank and its moment.
bool parse_flip(string_view key, string_view value, Fault& fault) {
  if (key == "message")
    return fault.message == 0 && parse_number(value, fault.message) && fault.message > 0;
  if (key == "collective")
    return fault.collective == 0 && parse_number(value, fault.collective) && fault.collective > 0;
  if (key == "checkpoint")
    return fault.checkpoint == 0 && parse_number(value, fault.checkpoint) && fault.checkpoint > 0;
  if (key == "where") return parse_area(value, fault.area);
  return key == "bit" && parse_number(value, fault.bit);
}

// Whether a flip says which bits it is one of, once.
bool has_place(const Fault& fault, bool has_moment) {
  const bool is_of_memory = fault.text.find("where=memory") != string::npos;
  const int places = (fault.message > 0) + (fault.collective > 0) + (fault.checkpoint > 0);
  if (fault.area != Fault::Area::none) return has_moment && places == 0 && !is_of_memory;
  return !has_moment && places == 1 && is_of_memory == (fault.checkpoint > 0);
}

// Empty if all is well, else what is wrong with it.
string parse_fault(string_view text, int world_size, Fault& fault) {
  fault.text = text;
  string_view rest = text;
  const string_view kind = take_until(rest, ':');
  if (!parse_kind(kind, fault.kind))
    return "'" + string(kind) + "' is none of kill, stop, exit and flip";
  const bool is_flip = fault.kind == Fault::Kind::flip;

  bool has_rank = false;
  bool has_moment = false;
  while (!rest.empty()) {
    string_view value = take_until(rest, ',');
    const string_view key = take_until(value, '=');
    const string quoted = "'" + string(key) + "=" + string(value) + "'";
    if (key == "count" || key == "seed" || key == "within")
      return quoted + " is for `resprout run`, which chooses ranks and times from it";
    bool is_good = false;
    if (key == "rank") {
      is_good = !has_rank && parse_number(value, fault.rank);
      has_rank = true;
    } else if (key == "at") {
      is_good = !has_moment && parse_moment(value, fault);
      has_moment = true;
    } else if (is_flip) {
      is_good = parse_flip(key, value, fault);
    } else if (key == "status" && fault.kind == Fault::Kind::exit) {
      is_good = parse_number(value, fault.status) && fault.status < 256;
    }
    if (!is_good) return quoted + " is not understood";
  }
  if (is_flip && (!has_rank || !has_place(fault, has_moment)))
    return "it needs rank= and message= or collective=, or rank=, where=memory and checkpoint=, or "
           "rank=, where=process, stack, heap or data, and at=";
  if (!is_flip && (!has_rank || !has_moment)) return "it needs both rank= and at=";
  if (fault.rank >= world_size)
    return "rank " + std::to_string(fault.rank) + " is not one of the " +
           std::to_string(world_size) + " ranks";
  return {};
}

string parse_faults(string_view value, int world_size, Options& options) {
  while (!value.empty()) {
    const string_view text = take_until(value, ';');
    Fault fault;
    const string problem = parse_fault(text, world_size, fault);
    if (!problem.empty())
      return "the fault '" + string(text) + "' is not valid: " + problem + ". Valid are " +
             string(fault_forms);
    options.faults.push_back(std::move(fault));
  }
  return {};
}

string parse_milliseconds(string_view value, int& milliseconds) {
  int parsed = 0;
  if (!parse_number(value, parsed) || parsed < 1 || parsed > 3600000)
    return "'" + string(value) + "' is not valid: give whole milliseconds, 1 to 3600000";
  milliseconds = parsed;
  return {};
}

string parse_radix(string_view value, Options& options) {
  int parsed = 0;
  if (!parse_number(value, parsed) || !topology::RadixTree::is_radix(parsed))
    return "'" + string(value) + "' is not valid: give a power of two from 2 to 1024";
  options.radix = parsed;
  return {};
}

// `resprout run --order FILE` makes this of the file.
string parse_order(string_view value, Options& options) {
  constexpr string_view lines = "lines:";
  if (!value.starts_with(lines))
    return "'" + string(value) +
           "' is not valid: give lines:HOST [GROUP];HOST [GROUP];... as `resprout run --order` " +
           "makes it of a file";
  try {
    options.order = runtime::Order::from_text(string(value.substr(lines.size())));
  } catch (const std::invalid_argument& error) {
    return "'" + string(value) + "' is not valid: " + error.what();
  }
  return {};
}

template <typename Choice, std::size_t n>
string parse_choice(string_view value, const std::array<std::pair<string_view, Choice>, n>& table,
                    Choice& choice) {
  string valid;
  for (const auto& [name, meaning] : table) {
    if (name == value) {
      choice = meaning;
      return {};
    }
    if (!valid.empty()) valid += &name == &table.back().first ? " or " : ", ";
    valid += name;
  }
  return "'" + string(value) + "' is not valid: give " + valid;
}

string parse_on_loss(string_view value, Options& options) {
  using Row = std::pair<string_view, OnLoss>;
  static constexpr std::array table{Row{"continue", OnLoss::go_on}, Row{"error", OnLoss::error},
                                    Row{"restart", OnLoss::restart}};
  return parse_choice(value, table, options.on_loss);
}

string parse_on_unanswered(string_view value, Options& options) {
  using Row = std::pair<string_view, OnUnanswered>;
  static constexpr std::array table{Row{"handler", OnUnanswered::handler},
                                    Row{"ignore", OnUnanswered::ignore},
                                    Row{"abort", OnUnanswered::abort}};
  return parse_choice(value, table, options.on_unanswered);
}

string parse_transport(string_view value, Options& options) {
  using Row = std::pair<string_view, TransportChoice>;
  static constexpr std::array table{Row{"auto", TransportChoice::automatic},
                                    Row{"shm", TransportChoice::shm},
                                    Row{"tcp", TransportChoice::tcp}};
  return parse_choice(value, table, options.transport);
}

string parse_missing(string_view value, Options& options) {
  using What = Missing::What;
  using Row = std::pair<string_view, What>;
  for (const auto& [name, what] : {Row{"nothing", What::nothing}, Row{"last", What::last},
                                   Row{"mean", What::mean}, Row{"linear", What::linear}}) {
    if (name != value) continue;
    options.missing.what = what;
    return {};
  }
  options.missing.what = What::value;
  std::istringstream text{string(value)};
  text.imbue(std::locale::classic());  // the program may have another one
  text >> std::noskipws >> options.missing.value;
  if (text.fail() || text.peek() != std::istringstream::traits_type::eof())
    return "'" + text.str() + "' is not valid: give nothing, last, mean, linear or a number";
  return {};
}

string parse_sum(string_view value, Options& options) {
  static constexpr std::array table{std::pair<string_view, Sum>{"any", Sum::any},
                                    std::pair<string_view, Sum>{"reproducible", Sum::reproducible}};
  return parse_choice(value, table, options.sum);
}

// Read when the process begins (policies/replicas/clocks.cpp, identity.cpp): `decided` is followed
// by two times, or by a key, then.
string check_decided(string_view value) {
  if (value == "own" || value == "decided" || value.starts_with("decided:")) return {};
  return "'" + string(value) + "' is not valid: give decided or own";
}

string parse_calibrated(string_view value, Options& options) {
  constexpr string_view measured = "auto:";
  if (!value.starts_with(measured)) return parse_collectives(value, options.collectives);
  options.collectives = Collectives::automatic;
  const string wrong = Calibration::parse(value.substr(measured.size()), options.calibration);
  return wrong.empty() ? wrong : "what follows auto: is no calibration: " + wrong;
}

string parse_replicas(string_view value, Options& options) {
  static constexpr std::array table{std::pair<string_view, int>{"1", 1},
                                    std::pair<string_view, int>{"2", 2},
                                    std::pair<string_view, int>{"3", 3}};
  return parse_choice(value, table, options.replicas);
}

// Of `resprout run` alone, which starts the planes.
string parse_replica(string_view value, Options& options) {
  static constexpr std::array table{std::pair<string_view, int>{"0", 0},
                                    std::pair<string_view, int>{"1", 1},
                                    std::pair<string_view, int>{"2", 2}};
  options.has_replica = true;
  return parse_choice(value, table, options.replica);
}

string parse_verify(string_view value, Options& options) {
  using protocols::VoteMethod;
  using Row = std::pair<string_view, std::optional<VoteMethod>>;
  static constexpr std::array table{
      Row{"none", std::nullopt}, Row{"all-to-all", VoteMethod::all_to_all},
      Row{"msg-plus-hash", VoteMethod::msg_plus_hash}, Row{"async", VoteMethod::async},
      Row{"async-hash", VoteMethod::async_hash}};
  return parse_choice(value, table, options.verify);
}

string parse_on_corruption(string_view value, Options& options) {
  using Row = std::pair<string_view, OnCorruption>;
  static constexpr std::array table{Row{"abort", OnCorruption::abort},
                                    Row{"report", OnCorruption::report}};
  return parse_choice(value, table, options.on_corruption);
}

string parse_on_replica_loss(string_view value, Options& options) {
  using Row = std::pair<string_view, OnReplicaLoss>;
  static constexpr std::array table{Row{"end-plane", OnReplicaLoss::end_plane},
                                    Row{"stand-in", OnReplicaLoss::stand_in}};
  return parse_choice(value, table, options.on_replica_loss);
}

// A number with a unit is bytes, one without it messages.
bool parse_bytes(string_view text, std::uint64_t& bytes) {
  using Unit = std::pair<string_view, int>;
  for (const auto& [suffix, shift] : {Unit{"KiB", 10}, Unit{"MiB", 20}, Unit{"GiB", 30}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> shift;
    if (!parse_number(text, bytes) || bytes > most) return false;
    bytes <<= shift;
    return true;
  }
  return false;
}

string parse_shadow_lag(string_view value, Options& options) {
  constexpr std::uint64_t bytes_min = 64 << 10;
  runtime::Steps bound = runtime::Steps::no_bound();
  const bool is_good =
      value == "none" || (parse_bytes(value, bound.bytes) && bound.bytes >= bytes_min) ||
      (parse_number(value, bound.messages) && bound.messages >= runtime::Lag::messages_min);
  if (!is_good)
    return "'" + string(value) +
           "' is not valid: give messages, 2 or more, as 10000; bytes, 64KiB or more, as 64MiB or "
           "1GiB; or none";
  options.shadow_lag = bound;
  return {};
}

string parse_verbose(string_view value, Options& options) {
  static constexpr std::array table{std::pair<string_view, bool>{"0", false},
                                    std::pair<string_view, bool>{"1", true}};
  return parse_choice(value, table, options.verbose);
}

string parse_network(string_view value, Options& options) {
  string_view rest = value;
  const string address(take_until(rest, '/'));
  unsigned char parsed[sizeof(in6_addr)];
  int bits_max = 0;
  if (inet_pton(AF_INET, address.c_str(), parsed) == 1) bits_max = 32;
  if (inet_pton(AF_INET6, address.c_str(), parsed) == 1) bits_max = 128;
  int bits = 0;
  if (bits_max == 0 || !parse_number(rest, bits) || bits > bits_max)
    return "'" + string(value) + "' is not valid: give a network as 10.0.0.0/8 or fd00::/8";
  options.network = value;
  return {};
}

struct Variable {
  string_view name;
  string (*parse)(string_view value, int world_size, Options& options);
};

constexpr std::array variables{
    Variable{"RESPROUT_ALLREDUCE",
             [](string_view v, int, Options& o) { return o.allreduce = v, string{}; }},
    Variable{"RESPROUT_BCAST",
             [](string_view v, int, Options& o) { return o.bcast = v, string{}; }},
    Variable{"RESPROUT_CLOCKS", [](string_view v, int, Options&) { return check_decided(v); }},
    Variable{"RESPROUT_COLLECTIVES",
             [](string_view v, int, Options& o) { return parse_calibrated(v, o); }},
    Variable{"RESPROUT_HEARTBEAT_PERIOD_MS",
             [](string_view v, int, Options& o) {
               return parse_milliseconds(v, o.heartbeat_period_ms);
             }},
    Variable{"RESPROUT_HEARTBEAT_TIMEOUT_MS",
             [](string_view v, int, Options& o) {
               return parse_milliseconds(v, o.heartbeat_timeout_ms);
             }},
    Variable{"RESPROUT_INJECT", parse_faults},
    Variable{"RESPROUT_MISSING",
             [](string_view v, int, Options& o) { return parse_missing(v, o); }},
    Variable{"RESPROUT_NETWORK",
             [](string_view v, int, Options& o) { return parse_network(v, o); }},
    Variable{"RESPROUT_ON_CORRUPTION",
             [](string_view v, int, Options& o) { return parse_on_corruption(v, o); }},
    Variable{"RESPROUT_ON_LOSS",
             [](string_view v, int, Options& o) { return parse_on_loss(v, o); }},
    Variable{"RESPROUT_ON_REPLICA_LOSS",
             [](string_view v, int, Options& o) { return parse_on_replica_loss(v, o); }},
    Variable{"RESPROUT_ON_UNANSWERED",
             [](string_view v, int, Options& o) { return parse_on_unanswered(v, o); }},
    Variable{"RESPROUT_ORDER", [](string_view v, int, Options& o) { return parse_order(v, o); }},
    Variable{"RESPROUT_RADIX", [](string_view v, int, Options& o) { return parse_radix(v, o); }},
    Variable{"RESPROUT_REPLICA",
             [](string_view v, int, Options& o) { return parse_replica(v, o); }},
    Variable{"RESPROUT_REPLICAS",
             [](string_view v, int, Options& o) { return parse_replicas(v, o); }},
    Variable{"RESPROUT_RUN_DIR",
             [](string_view v, int, Options& o) { return o.run_directory = v, string{}; }},
    Variable{"RESPROUT_SHADOW_LAG",
             [](string_view v, int, Options& o) { return parse_shadow_lag(v, o); }},
    Variable{"RESPROUT_SUM", [](string_view v, int, Options& o) { return parse_sum(v, o); }},
    Variable{"RESPROUT_SYSTEM", [](string_view v, int, Options&) { return check_decided(v); }},
    Variable{"RESPROUT_TRANSPORT",
             [](string_view v, int, Options& o) { return parse_transport(v, o); }},
    Variable{"RESPROUT_VERBOSE",
             [](string_view v, int, Options& o) { return parse_verbose(v, o); }},
    Variable{"RESPROUT_VERIFY", [](string_view v, int, Options& o) { return parse_verify(v, o); }},
};

string parse_variable(string_view name, string_view value, int world_size, Options& options) {
  for (const Variable& variable : variables) {
    if (variable.name != name) continue;
    // A variable that is set to nothing is a variable that is not set.
    const string problem = value.empty() ? string{} : variable.parse(value, world_size, options);
    return problem.empty() ? problem : string(name) + ": " + problem;
  }
  for (const string_view known : launcher_names)
    if (known == name) return {};
  string error = string(name) + " is no option of Resprout; its variables are ";
  for (const Variable& variable : variables) {
    if (&variable != &variables.front()) error += &variable == &variables.back() ? " and " : ", ";
    error += variable.name;
  }
  return error;
}

}  // namespace

std::string parse_collectives(std::string_view value, Collectives& collectives) {
  using Row = std::pair<string_view, Collectives>;
  static constexpr std::array table{
      Row{"auto", Collectives::automatic}, Row{"native", Collectives::native},
      Row{"resprout", Collectives::resprout}, Row{"trees", Collectives::trees}};
  return parse_choice(value, table, collectives);
}

ParsedOptions parse_environment(char** environment, int world_size) {
  ParsedOptions parsed;
  for (char** it = environment; *it != nullptr && parsed.error.empty(); ++it) {
    string_view value = *it;
    if (!value.starts_with("RESPROUT_")) continue;
    const string_view name = take_until(value, '=');
    parsed.error = parse_variable(name, value, world_size, parsed.options);
  }
  const Options& options = parsed.options;
  if (parsed.error.empty() && options.heartbeat_timeout_ms <= options.heartbeat_period_ms)
    parsed.error = "RESPROUT_HEARTBEAT_TIMEOUT_MS (" +
                   std::to_string(options.heartbeat_timeout_ms) +
                   ") must be greater than RESPROUT_HEARTBEAT_PERIOD_MS (" +
                   std::to_string(options.heartbeat_period_ms) + ")";
  if (parsed.error.empty() && options.is_replicated() && !options.has_replica)
    parsed.error = "RESPROUT_REPLICAS is for `resprout run`, which starts the planes";
  if (parsed.error.empty() && options.verify && !options.is_replicated())
    parsed.error =
        "RESPROUT_VERIFY needs RESPROUT_REPLICAS=2 or 3: there is nothing to compare with";
  return parsed;
}

}  // namespace resprout::shim
