// While the MPI library makes a window.
//
// First it duplicates the communicator. If a loss falls into that, Open MPI 5.0 gives back what it
// has begun as if all of it were there: a segmentation fault in `ompi_osc_rdma_free`, at all that
// live. So `ompi_comm_dup` goes through here: the members agree whether all have a duplicate; if
// not, each goes on with one of this process alone, and frees the window.
//
// Thread rule: from any thread.
#pragma once

#include <functional>
#include <utility>

namespace resprout::shim {

// This thread has the library make a window while one lives.
class MakingWindow {
 public:
  // `is_anywhere(is_here)`: whether a loss has fallen into the duplicate; collective.
  using Agree = std::function<bool(bool is_here)>;

  explicit MakingWindow(Agree is_anywhere) : is_anywhere_(std::move(is_anywhere)) {
    current = this;
  }
  ~MakingWindow() { current = nullptr; }
  MakingWindow(const MakingWindow&) = delete;
  MakingWindow& operator=(const MakingWindow&) = delete;

  // Nobody is to use the window, if there is one.
  bool is_broken() const { return is_broken_; }

  // Null: this thread is at something else, or behind the duplicate.
  static MakingWindow* take_current() { return std::exchange(current, nullptr); }
  bool agree(bool is_here) { return is_broken_ = is_anywhere_(is_here); }

 private:
  const Agree is_anywhere_;
  bool is_broken_ = false;
  constinit static inline thread_local MakingWindow* current = nullptr;
};

}  // namespace resprout::shim
