// See order.hpp.
#include "runtime/net/order.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

#include "protocols/membership/membership.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

constexpr const char* digits_and_dots = "0123456789.";
constexpr std::size_t lines_max = protocols::LargeMembership::Ids::capacity;
constexpr std::size_t name_letters_max = 253;  // RFC 1035

std::string lower(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= name_letters_max && std::ranges::all_of(text, is_letter) &&
         text.find_first_not_of(digits_and_dots) != std::string::npos && text.front() != '.';
}

// An address or a name, so that equal ones are equal texts; nothing: neither.
std::optional<std::string> canonical_host(const std::string& text) {
  if (auto address = canonical_address(text)) return address;
  std::string name = lower(text);
  if (!is_name(name)) return std::nullopt;
  return name;
}

std::optional<std::uint16_t> port_of(const std::string& text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || behind != end || port == 0) return std::nullopt;
  return port;
}

struct Location {
  std::string host;
  std::string port;
  bool has_port = false;
};

// Where the port begins, if there is one.
Location split(const std::string& text) {
  if (text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) return {text, "", false};
    const std::string host = text.substr(1, end - 1);
    if (end + 1 == text.size()) return {host, "", false};
    if (text[end + 1] != ':') return {text, "", false};
    return {host, text.substr(end + 2), true};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos)
    return {text, "", false};
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

// Whether one is the other, or the other up to a dot.
bool is_same_name(const std::string& one, const std::string& other) {
  const std::string& shorter = one.size() < other.size() ? one : other;
  const std::string& longer = one.size() < other.size() ? other : one;
  return longer == shorter || (!shorter.empty() && longer.starts_with(shorter + "."));
}

}  // namespace

Order Order::parse(const std::string& text, Of of) {
  Order order;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      std::optional<Line> parsed = parse_line(line.substr(0, line.find('#')), of);
      if (!parsed) continue;
      parsed->number = number;
      order.add(std::move(*parsed));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::to_string(number) + ": " + error.what());
    }
  }
  if (order.lines_.empty()) throw std::invalid_argument("it names nobody");
  return order;
}

Order Order::from_text(std::string text) {
  std::ranges::replace(text, ';', '\n');
  return parse(text, Of::hosts);
}

std::string Order::text() const {
  std::string text;
  std::map<std::string, std::size_t> groups;
  for (const Line& line : lines_) {
    text += (text.empty() ? "" : ";") + line.host;
    if (line.group.empty()) continue;
    const auto [number, is_new] = groups.try_emplace(line.group, groups.size());
    text += " " + std::to_string(number->second);
  }
  return text;
}

// Nothing: the line is empty.
std::optional<Order::Line> Order::parse_line(const std::string& text, Of of) {
  std::istringstream words(text);
  std::string location;
  std::string rest;
  Line line;
  if (!(words >> location)) return std::nullopt;
  const bool has_ports = of == Of::members;
  const std::string valid = has_ports ? "HOST or HOST:PORT" : "HOST";
  if (words >> line.group && words >> rest)
    throw std::invalid_argument("'" + rest + "' is too much: a line is " + valid +
                                ", and perhaps a GROUP");
  const Location parts = split(location);
  const auto host = canonical_host(parts.host);
  const auto port = parts.has_port ? port_of(parts.port) : 0;
  if (!host || !port || (parts.has_port && !has_ports))
    throw std::invalid_argument("'" + location + "' is not " + valid + ", as node7 or " +
                                (has_ports ? "10.1.0.7:4000" : "10.1.0.7"));
  line.host = *host;
  line.port = *port;
  return line;
}

void Order::add(Line line) {
  for (const Line& earlier : lines_)
    if (earlier.host == line.host && earlier.port == line.port)
      throw std::invalid_argument(
          "'" + line.host + (line.port == 0 ? "" : ":" + std::to_string(line.port)) +
          "' stands in line " + std::to_string(earlier.number) + " already");
  if (lines_.size() == lines_max)
    throw std::invalid_argument("there are more than " + std::to_string(lines_max) + " lines");
  lines_.push_back(std::move(line));
}

std::optional<std::size_t> Order::find(const std::string& address, std::uint16_t port,
                                       const std::string& host_name) const {
  const std::string host = canonical_host(address).value_or(address);
  const std::string name = lower(host_name);
  for (const std::uint16_t wanted : {port, std::uint16_t{0}})
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      if (line.port != wanted) continue;
      const bool is_address = canonical_address(line.host).has_value();
      if (is_address ? line.host == host : is_same_name(line.host, name)) return i;
    }
  return std::nullopt;
}

}  // namespace resprout::runtime
