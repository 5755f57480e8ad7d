// Communicators that the program has freed while requests on them are not over. Those wait, test
// and start as before, and what a loss does to them is told to the handler of their communicator:
// so that stays, with its handler and its name, until the last of these requests is over or freed.
//
// MPI-4.1, section 7.4.3. Thread rule: from any thread, without the engine's lock.
#pragma once

#include <atomic>
#include <functional>

namespace resprout::shim {

namespace detail {
extern std::atomic<bool> any_lingers;
void end_lingering();
}  // namespace detail

// `has_requests_left` is asked after calls that complete requests; then `end` is called, once.
void linger(std::function<bool()> has_requests_left, std::function<void()> end);
// Ends those that have no requests left. A load while there are none.
inline void end_lingering() {
  if (detail::any_lingers.load(std::memory_order_relaxed)) [[unlikely]]
    detail::end_lingering();
}
// At MPI_Finalize: ends all of them.
void end_all_lingering();

// While one lives a handler of the program may be told of requests that are over: nothing ends.
class Telling {
 public:
  Telling();
  ~Telling();
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

}  // namespace resprout::shim
