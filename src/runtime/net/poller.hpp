// epoll, level-triggered, with a number of the caller's per descriptor.
//
// A descriptor is taken out before it is closed: a forked child may still hold a copy of it, and
// then closing alone would leave its events behind for ever.
//
// Thread rule: one owner.
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <span>
#include <system_error>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

class Poller {
 public:
  Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll");
  }

  bool add(const Fd& fd, std::uint64_t key, std::uint32_t events) {
    return control(EPOLL_CTL_ADD, fd, key, events);
  }
  void modify(const Fd& fd, std::uint64_t key, std::uint32_t events) {
    control(EPOLL_CTL_MOD, fd, key, events);
  }
  void remove_and_close(Fd& fd) {
    if (fd.is_open()) control(EPOLL_CTL_DEL, fd, 0, 0);
    fd.reset();
  }

  // What is ready; at most `timeout_ms` later, -1: when something is.
  std::span<const epoll_event> wait(std::span<epoll_event> events, int timeout_ms) {
    const int n =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    return events.first(n > 0 ? static_cast<std::size_t>(n) : 0);
  }

  int fd() const { return epoll_.get(); }

 private:
  bool control(int operation, const Fd& fd, std::uint64_t key, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    return epoll_ctl(epoll_.get(), operation, fd.get(), &event) == 0;
  }

  Fd epoll_;
};

}  // namespace resprout::runtime
