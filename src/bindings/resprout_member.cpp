// See resprout/member.h.
#pragma GCC visibility push(default)
#include "resprout/member.h"
#pragma GCC visibility pop

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/member/local_member.hpp"
#include "runtime/member/member.hpp"
#include "runtime/net/clock.hpp"
#include "runtime/net/order.hpp"
#include "runtime/net/socket.hpp"

using resprout::runtime::Order;
using resprout::runtime::auth::Failure;
using resprout::runtime::auth::protocol_version;
using resprout::runtime::auth::Secret;
using resprout::runtime::auth::secrets_max;
using resprout::runtime::member::Address;
using resprout::runtime::member::Addresses;
using resprout::runtime::member::LocalMember;
using resprout::runtime::member::Member;
using resprout::runtime::member::MemberEvent;
using resprout::runtime::member::MemberOptions;
using resprout::runtime::member::parse_address;
using resprout::runtime::member::parse_tags;
using resprout::runtime::member::Service;
using resprout::runtime::member::Statistics;
using resprout::runtime::member::Tags;
using resprout::runtime::member::tags_bytes_max;
using resprout::runtime::member::Traffic;

struct resprout_member {
  explicit resprout_member(const MemberOptions& options) {
    if (options.addresses)
      member = std::make_unique<LocalMember>(options);
    else
      member = std::make_unique<Member>(options);
  }
  std::unique_ptr<Service> member;
  resprout::runtime::member::Bytes data;
  std::string line;
  std::string statistics;
  std::string members;
};

namespace {

thread_local std::string last_member_refusal;

constexpr std::size_t order_bytes_max = std::size_t{1} << 20;

// Throws std::invalid_argument: why it is not one, with the file and the line.
Order read_order(const std::string& path) {
  const auto refuse = [&path](const std::string& why) {
    throw std::invalid_argument(path + ": " + why);
  };
  const auto close = [](std::FILE* open) { std::fclose(open); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "re"), close);
  if (!file) refuse(std::strerror(errno));
  std::string text(order_bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) refuse(std::strerror(errno));
  if (text.size() > order_bytes_max) refuse("it is longer than 1 MiB");
  try {
    return Order::parse(text);
  } catch (const std::invalid_argument& error) {
    const std::string why = error.what();
    const bool has_line = why.front() >= '0' && why.front() <= '9';
    throw std::invalid_argument(path + (has_line ? ":" : ": ") + why);
  }
}

std::string own_host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Throws std::invalid_argument, which begins with the option: it is none.
Address address_in(const char* option, const std::string& text) {
  const auto address = parse_address(text);
  if (!address)
    throw std::invalid_argument(std::string(option) + ": '" + text +
                                "' is not HOST:PORT with a numeric host, as 127.0.0.1:0");
  return *address;
}

bool is_every_address(const Address& address) {
  const auto host = resprout::runtime::canonical_address(address.host);
  return host == "0.0.0.0" || host == "::";
}

// Where it listens, where the others reach it, and whom it asks. Throws as address_in.
void read_addresses(const resprout_member_options& given, MemberOptions& options) {
  options.listen = address_in("listen", given.listen == nullptr ? "" : given.listen);
  if (given.advertise != nullptr) options.advertise = address_in("advertise", given.advertise);
  if (is_every_address(options.advertise.value_or(options.listen)))
    throw std::invalid_argument(
        std::string(options.advertise ? "advertise: " : "listen: ") +
        options.advertise.value_or(options.listen).text() +
        " is every address of this host; give the one at which the other members reach it" +
        (options.advertise ? "" : ", or advertise it"));
  if (given.join == nullptr) return;
  const std::string join = given.join;
  for (std::size_t start = 0; start <= join.size();) {
    const std::size_t end = std::min(join.find(',', start), join.size());
    options.join.push_back(address_in("join", join.substr(start, end - start)));
    start = end + 1;
  }
}

// Throws as address_in.
std::vector<Secret> secrets_in(const std::uint8_t* bytes, int count) {
  if (count < 1 || count > static_cast<int>(secrets_max))
    throw std::invalid_argument("secrets: " + std::to_string(count) + " is not 1 to " +
                                std::to_string(secrets_max));
  std::vector<Secret> secrets(static_cast<std::size_t>(count));
  for (Secret& secret : secrets) {
    std::memcpy(secret.data(), bytes, secret.size());
    bytes += secret.size();
  }
  return secrets;
}

// Throws as address_in.
Tags tags_in(const char* text, bool has_local_views) {
  const auto tags = parse_tags(text);
  if (!tags)
    throw std::invalid_argument(
        "tags: they are lines key=value in the order of their keys, of printable ASCII without "
        "quotation marks and backslashes, and at most " +
        std::to_string(tags_bytes_max) + " bytes");
  if (has_local_views) throw std::invalid_argument("tags: members with local views show none");
  return *tags;
}

std::optional<MemberOptions> options_of(const resprout_member_options& given) {
  const auto refuse = [](const std::string& why) {
    last_member_refusal = why;
    return std::nullopt;
  };
  MemberOptions options;
  read_addresses(given, options);
  if (!resprout::topology::RadixTree::is_radix(given.radix))
    return refuse("radix: " + std::to_string(given.radix) +
                  " is not a power of two from 2 to 1024");
  options.radix = given.radix;
  constexpr std::int64_t day_ms = 86'400'000;
  if (given.heartbeat_period_ms < 1 || given.heartbeat_period_ms > day_ms)
    return refuse("heartbeat-period: " + std::to_string(given.heartbeat_period_ms) +
                  " ms is not from 1 ms to a day");
  if (given.heartbeat_timeout_ms <= given.heartbeat_period_ms ||
      given.heartbeat_timeout_ms > day_ms)
    return refuse("heartbeat-timeout: " + std::to_string(given.heartbeat_timeout_ms) +
                  " ms is not longer than the period, " +
                  std::to_string(given.heartbeat_period_ms) + " ms, and at most a day");
  options.period_ns = given.heartbeat_period_ms * 1'000'000;
  options.timeout_ns = given.heartbeat_timeout_ms * 1'000'000;
  if (given.secret != nullptr)
    options.secrets = secrets_in(given.secret, given.secrets == 0 ? 1 : given.secrets);
  if (given.state != nullptr) options.state = given.state;
  const std::string views = given.views == nullptr ? "whole" : given.views;
  if (views != "whole" && views != "local")
    return refuse("views: '" + views + "' is not whole or local");
  const bool has_local_views = views == "local";
  if (given.tags != nullptr) options.tags = tags_in(given.tags, has_local_views);
  if (given.order == nullptr && has_local_views)
    return refuse("views: local ones need an order, with HOST:PORT of all who may be members");
  if (given.order == nullptr) return options;
  try {
    if (has_local_views)
      options.addresses = Addresses(given.order);
    else
      options.order = read_order(given.order);
  } catch (const std::invalid_argument& error) {
    return refuse("order: " + std::string(error.what()));
  }
  options.host_name = own_host_name();
  return options;
}

// The time in seconds since 1970.
std::string head(const char* event, std::int64_t time_ns) {
  char time[32];
  std::snprintf(time, sizeof time, "%.6f", static_cast<double>(time_ns) * 1e-9);
  return std::string("{\"event\":\"") + event + "\",\"time\":" + time;
}

// Why another process was rejected.
std::string reason_in(const MemberEvent& event) {
  const std::string peer = ",\"peer\":\"" + event.peer + "\"";
  if (event.failure != Failure::other_version) return peer + ",\"reason\":\"secret\"";
  return peer + ",\"reason\":\"version\",\"peer_version\":" + std::to_string(event.peer_version) +
         ",\"version\":" + std::to_string(protocol_version);
}

// Where the order has this member.
std::string place_in(const Service& member) {
  if (!member.has_order()) return "";
  return ",\"place\":" + (member.place() < 0 ? "null" : std::to_string(member.place()));
}

std::string text_of(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return "[" + text + "]";
}

std::string id_or_null(std::int32_t id) { return id < 0 ? "null" : std::to_string(id); }

// The members of a whole view, or the name of a local one.
std::string view_in(const MemberEvent& event) {
  if (!event.local)
    return ",\"members\":" + text_of(event.members) +
           ",\"root\":" + (event.members.empty() ? "null" : std::to_string(event.members.front()));
  char digest[17];
  std::snprintf(digest, sizeof digest, "%016llx",
                static_cast<unsigned long long>(event.local->members.digest));
  std::string text = ",\"count\":" + std::to_string(event.local->members.count) + ",\"digest\":\"" +
                     digest + "\",\"root\":" + id_or_null(event.local->root);
  if (event.kind != MemberEvent::Kind::view) return text;
  return text + ",\"neighbors\":" + text_of(event.local->neighbors) +
         ",\"entered\":" + text_of(event.local->entered) +
         ",\"left\":" + text_of(event.local->left);
}

// An object with a key for each entry of a map, whose value `f` makes of the entry's.
template <typename Map, typename F>
std::string object_of(const Map& entries, F f) {
  std::string text;
  for (const auto& [key, value] : entries) {
    std::string name;
    if constexpr (std::is_same_v<typename Map::key_type, std::string>)
      name = key;
    else
      name = std::to_string(key);
    text += (text.empty() ? "\"" : ",\"") + name + "\":" + f(value);
  }
  return "{" + text + "}";
}

// Keys and values have nothing that JSON would have to write otherwise (tags.hpp).
std::string as_object(const Tags& tags) {
  return object_of(tags, [](const std::string& value) { return "\"" + value + "\""; });
}

std::string as_json(const MemberEvent& event, const Service& member) {
  static constexpr const char* kinds[] = {"joining",  "view",     "suspected", "decided",
                                          "excluded", "isolated", "rejected",  "founding",
                                          "message",  "removed"};
  std::string line = head(kinds[static_cast<int>(event.kind)], event.time_ns) +
                     ",\"epoch\":" + std::to_string(event.epoch) + view_in(event) +
                     ",\"self\":" + id_or_null(event.self) + place_in(member);
  if (event.kind == MemberEvent::Kind::message)
    line += ",\"from\":" + std::to_string(event.about) +
            ",\"bytes\":" + std::to_string(event.data.size());
  else if (event.about >= 0)
    line += ",\"about\":" + std::to_string(event.about);
  if (event.kind == MemberEvent::Kind::rejected) line += reason_in(event);
  if (!event.tags.empty()) line += ",\"tags\":" + object_of(event.tags, as_object);
  return line + ",\"address\":\"" + member.address().text() + "\"}";
}

std::string as_json(const Statistics& statistics, const std::string& address) {
  const auto traffic = [](const char* verb, const Traffic& all) {
    const std::string end = std::string("_") + verb + "\":";
    return ",\"bytes" + end + std::to_string(all.bytes) + ",\"messages" + end +
           std::to_string(all.frames) + ",\"heartbeats" + end + std::to_string(all.heartbeats);
  };
  const auto memory = resprout::runtime::member::memory_of_this_process();
  return head("statistics", resprout::runtime::realtime_ns()) + traffic("sent", statistics.sent) +
         traffic("received", statistics.received) +
         ",\"connections\":" + std::to_string(statistics.connections) +
         ",\"rejected\":" + std::to_string(statistics.rejected) +
         ",\"resident_bytes\":" + std::to_string(memory.resident) +
         ",\"own_bytes\":" + std::to_string(memory.own) + ",\"address\":\"" + address + "\"}";
}

}  // namespace

resprout_member* resprout_member_new(const resprout_member_options* options) {
  try {
    const auto understood = options_of(*options);
    if (!understood) return nullptr;
    return new resprout_member(*understood);
  } catch (const std::invalid_argument& error) {
    last_member_refusal = error.what();
    return nullptr;
  } catch (const std::exception& error) {
    last_member_refusal = "listen: " + std::string(options->listen) + ": " + error.what();
    return nullptr;
  }
}

const char* resprout_member_refusal(void) { return last_member_refusal.c_str(); }

const char* resprout_member_run(resprout_member* member, int timeout_ms) {
  auto event = member->member->run(timeout_ms);
  member->data.clear();
  if (!event) return nullptr;
  member->line = as_json(*event, *member->member);
  member->data = std::move(event->data);
  return member->line.c_str();
}

const uint8_t* resprout_member_data(const resprout_member* member, size_t* bytes) {
  *bytes = member->data.size();
  return member->data.data();
}

int resprout_member_remove(resprout_member* member, int id) {
  using Refusal = Service::Refusal;
  switch (member->member->remove(id)) {
    case Refusal::none:
      return 0;
    case Refusal::no_views:
      last_member_refusal = "remove: a member with local views does not know who is a member";
      return -1;
    case Refusal::no_member:
      last_member_refusal = "remove: this process is in no view";
      return -1;
    default:
      last_member_refusal = "remove: " + std::to_string(id) + " is no other member of this view";
      return -1;
  }
}

int resprout_member_use_secrets(resprout_member* member, const uint8_t* secrets, int count) {
  try {
    member->member->use(secrets_in(secrets, count));
    return 0;
  } catch (const std::invalid_argument& error) {
    last_member_refusal = error.what();
    return -1;
  }
}

const char* resprout_member_members(resprout_member* member) {
  const std::string members = object_of(member->member->known(), [](const Service::Known& known) {
    return "{\"address\":\"" + known.address.text() + "\",\"tags\":" + as_object(known.tags) + "}";
  });
  member->members =
      head("members", resprout::runtime::realtime_ns()) + ",\"members\":" + members + "}";
  return member->members.c_str();
}

uint64_t resprout_member_send(resprout_member* member, int to, const void* bytes, size_t size) {
  using Refusal = Service::Refusal;
  const auto* const first = static_cast<const std::uint8_t*>(bytes);
  const Service::Said said = member->member->say_to(to, {first, size});
  switch (said.refusal) {
    case Refusal::none:
      break;
    case Refusal::no_views:
      last_member_refusal = "send: a member with local views does not know who is a member";
      break;
    case Refusal::no_member:
      last_member_refusal = "send: this process is in no view";
      break;
    case Refusal::nobody:
      last_member_refusal =
          "send: " + std::to_string(to) + " is no other member of this view that is heard";
      break;
    case Refusal::too_long:
      last_member_refusal = "send: " + std::to_string(size) + " bytes are more than " +
                            std::to_string(resprout::runtime::member::said_bytes_max);
      break;
    case Refusal::too_much:
      last_member_refusal = "send: a receiver has not taken what was said before; try again later";
      break;
  }
  return said.epoch;
}

const char* resprout_member_statistics(resprout_member* member) {
  member->statistics = as_json(member->member->statistics(), member->member->address().text());
  return member->statistics.c_str();
}

void resprout_member_free(resprout_member* member) { delete member; }
