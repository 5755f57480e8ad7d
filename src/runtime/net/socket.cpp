#include "runtime/net/socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

namespace resprout::runtime {
namespace {

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

// 0: not a numeric address.
socklen_t parse(const std::string& text, std::uint16_t port, Address& out) {
  std::memset(&out, 0, sizeof out);
  if (inet_pton(AF_INET, text.c_str(), &out.v4.sin_addr) == 1) {
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(port);
    return sizeof out.v4;
  }
  if (inet_pton(AF_INET6, text.c_str(), &out.v6.sin6_addr) == 1) {
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(port);
    return sizeof out.v6;
  }
  return 0;
}

// Empty: it is of another family.
std::string text_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.any.sa_family == AF_INET)
    inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof text);
  else if (address.any.sa_family == AF_INET6)
    inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof text);
  return text;
}

void set_nodelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void fail(int error, const std::string& address) {
  throw std::system_error(error, std::generic_category(), "cannot listen on " + address);
}

bool fits(const std::string& hint, const ifaddrs& interface, const std::string& address) {
  if (hint.empty()) return (interface.ifa_flags & IFF_LOOPBACK) == 0;
  if (hint == interface.ifa_name || hint == address) return true;
  const std::size_t slash = hint.find('/');
  Address network, own;
  if (slash == std::string::npos || parse(hint.substr(0, slash), 0, network) != sizeof network.v4 ||
      parse(address, 0, own) != sizeof own.v4)
    return false;
  int bits = -1;
  std::from_chars(hint.data() + slash + 1, hint.data() + hint.size(), bits);
  if (bits < 0 || bits > 32) return false;
  const std::uint32_t mask = bits == 0 ? 0 : htonl(~std::uint32_t{0} << (32 - bits));
  return ((network.v4.sin_addr.s_addr ^ own.v4.sin_addr.s_addr) & mask) == 0;
}

}  // namespace

Fd listen_on(const std::string& address, std::uint16_t port) {
  Address parsed;
  const socklen_t length = parse(address, port, parsed);
  if (length == 0) fail(EINVAL, address);
  Fd fd(socket(parsed.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Who listened there before may have left connections that are still fading away; they must have
  // been made to be reused, too.
  const int on = 1;
  const auto allow_reuse = [&] {
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return true;
  };
  if (fd.is_open() && port != 0) allow_reuse();
  if (!fd.is_open() || bind(fd.get(), &parsed.any, length) != 0 || !allow_reuse() ||
      listen(fd.get(), 4096) != 0)
    fail(errno, address);
  return fd;
}

std::uint16_t local_port(const Fd& socket) {
  Address address;
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), &address.any, &length) != 0) return 0;
  return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

Fd accept_on(const Fd& listener) {
  Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd.is_open()) set_nodelay(fd.get());
  return fd;
}

Fd connect_to(const std::string& address, std::uint16_t port) {
  Address parsed;
  const socklen_t length = parse(address, port, parsed);
  if (length == 0) return Fd();
  Fd fd(socket(parsed.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return Fd();
  set_nodelay(fd.get());
  if (connect(fd.get(), &parsed.any, length) != 0 && errno != EINPROGRESS) return Fd();
  return fd;
}

int connect_error(const Fd& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

std::optional<std::string> canonical_address(const std::string& text) {
  std::array<unsigned char, 16> bytes;
  std::array<char, INET6_ADDRSTRLEN> written;
  for (const int family : {AF_INET, AF_INET6})
    if (inet_pton(family, text.c_str(), bytes.data()) == 1)
      return inet_ntop(family, bytes.data(), written.data(), written.size());
  return std::nullopt;
}

std::string peer_of(const Fd& socket) {
  Address address;
  socklen_t length = sizeof address;
  if (getpeername(socket.get(), &address.any, &length) != 0) return {};
  return text_of(address);
}

std::string reachable_address(const std::string& hint) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  std::string found;
  for (const ifaddrs* it = list; it != nullptr && found.empty(); it = it->ifa_next) {
    if (it->ifa_addr == nullptr || (it->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (it->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(it->ifa_addr)->sin_addr, text,
                sizeof text);
    } else if (it->ifa_addr->sa_family == AF_INET6) {
      const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(it->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) continue;
      inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    } else {
      continue;
    }
    if (fits(hint, *it, text)) found = text;
  }
  freeifaddrs(list);
  return found;
}

}  // namespace resprout::runtime
