// See addresses.hpp.
#include "runtime/member/addresses.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "runtime/net/socket.hpp"

namespace resprout::runtime::member {
namespace {

// Calls f(number of the line, its words) for each line that has some, until f says true. False: the
// file cannot be read.
template <typename F>
bool scan(const std::string& path, F f) {
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string text = line.substr(0, line.find('#'));
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (f(number, text)) return true;
  }
  return file.eof();
}

std::optional<Address> address_in(const std::string& text) {
  std::istringstream words(text);
  std::string location;
  std::string rest;
  words >> location;
  if (words >> rest) return std::nullopt;
  auto address = parse_address(location);
  const auto host = address ? canonical_address(address->host) : std::nullopt;
  if (!host) return std::nullopt;
  address->host = *host;
  return address;
}

}  // namespace

Addresses::Addresses(std::string path) : path_(std::move(path)) {
  errno = 0;
  const bool is_read = scan(path_, [this](int number, const std::string& text) {
    const auto address = address_in(text);
    if (!address || address->port == 0)
      throw std::invalid_argument(path_ + ":" + std::to_string(number) +
                                  ": with local views a line is HOST:PORT with a numeric host, "
                                  "and nothing else");
    ++count_;
    return false;
  });
  if (!is_read) throw std::invalid_argument(path_ + ": " + std::strerror(errno));
  if (count_ == 0) throw std::invalid_argument(path_ + ": it names nobody");
}

std::optional<Address> Addresses::of(std::int32_t id) const {
  std::int32_t at = 0;
  std::optional<Address> found;
  scan(path_, [&](int, const std::string& text) {
    if (at++ != id) return false;
    found = address_in(text);
    return true;
  });
  return found;
}

std::optional<std::int32_t> Addresses::find(const Address& address) const {
  const Address wanted{canonical_address(address.host).value_or(address.host), address.port};
  std::int32_t at = -1;
  bool is_found = false;
  scan(path_, [&](int, const std::string& text) {
    ++at;
    is_found = address_in(text) == wanted;
    return is_found;
  });
  if (!is_found) return std::nullopt;
  return at;
}

}  // namespace resprout::runtime::member
