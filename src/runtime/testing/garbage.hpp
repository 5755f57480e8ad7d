// What comes to an open port sooner or later: scans, other protocols, silence, noise.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/random.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime::testing {

// Connections that are opened, abused and, some of them, held open until this object goes.
class GarbageThrower {
 public:
  GarbageThrower(std::uint16_t port, std::uint64_t seed) : port_(port), random_(seed) {}

  void throw_one() {
    Fd socket = connect_to("127.0.0.1", port_);
    if (!socket.is_open()) return;
    pollfd entry{socket.get(), POLLOUT, 0};
    poll(&entry, 1, 100);
    ++thrown_;
    switch (random_.below(5)) {
      case 0:
        return;  // a port scan
      case 1:
        break;  // half open: it says nothing
      case 2:
        say(socket, "GET / HTTP/1.1\r\nHost: here\r\n\r\n", 30);
        break;
      case 3:
        say(socket, "RESPRT01", 8);
        break;  // begins well, and stops
      default: {
        std::vector<char> noise(1 + random_.below(5000));
        for (char& byte : noise) byte = static_cast<char>(random_.next());
        if (random_.chance(1, 2))
          std::memcpy(noise.data(), "RESPRT01", std::min<std::size_t>(8, noise.size()));
        say(socket, noise.data(), noise.size());
      }
    }
    held_.push_back(std::move(socket));
    if (held_.size() > 200) held_.erase(held_.begin(), held_.begin() + 100);
  }

  std::uint64_t thrown() const { return thrown_; }

 private:
  static void say(const Fd& socket, const char* text, std::size_t length) {
    if (send(socket.get(), text, length, MSG_NOSIGNAL) < 0) return;  // it was thrown out already
  }

  std::uint16_t port_;
  Random random_;
  std::vector<Fd> held_;
  std::uint64_t thrown_ = 0;
};

}  // namespace resprout::runtime::testing
