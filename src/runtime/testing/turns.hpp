// Turns of several processes on one thread, in an order that a seed decides: whatever happens
// between them happens again with the same seed.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "core/random.hpp"

namespace resprout::runtime::testing {

// Nothing has come to an end for so long that nothing ever will.
struct Stuck : std::exception {};

// Whose turn it is.
class Turns {
 public:
  Turns(int processes, std::uint64_t seed)
      : random_(seed), processes_(static_cast<std::size_t>(processes)) {
    for (Process& process : processes_) process.pace = 1 + random_.below(pace_max);
  }

  Random& random() { return random_; }
  std::uint64_t count() const { return count_; }
  bool is_stuck() const { return count_ >= count_max; }

  // Calls `body(i)` for each process, with stacks of their own; returns when all have returned.
  // `body` catches whatever is thrown.
  void run(const std::function<void(int)>& body) {
    body_ = &body;
    for (int i = 0; i < static_cast<int>(processes_.size()); ++i) prepare(i);
    swapcontext(&caller_, context_of(pick()));
  }
  // Some process goes on, perhaps this one.
  void pass(int self) {
    ++count_;
    const int next = pick();
    if (next != self) swapcontext(context_of(self), context_of(next));
    if (is_stuck()) throw Stuck{};
  }

 private:
  static constexpr std::uint64_t count_max = 4000000;
  static constexpr std::uint64_t pace_max = 8;
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  struct Process {
    ucontext_t context;
    std::uint64_t pace = 1;  // some are fast
    std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  };

  void prepare(int process) {
    running_.push_back(process);
    ucontext_t* context = context_of(process);
    getcontext(context);
    context->uc_stack.ss_sp = processes_[static_cast<std::size_t>(process)].stack.get();
    context->uc_stack.ss_size = stack_bytes;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(context, reinterpret_cast<void (*)()>(&Turns::enter), 3,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self), process);
  }
  static void enter(unsigned high, unsigned low, int process) {
    auto* turns = reinterpret_cast<Turns*>(std::uintptr_t{high} << 32 | low);
    (*turns->body_)(process);
    turns->leave(process);
  }
  void leave(int process) {
    std::erase(running_, process);
    setcontext(running_.empty() ? &caller_ : context_of(pick()));
  }
  int pick() {
    for (;;) {
      const int one = running_[random_.below(running_.size())];
      if (random_.below(pace_max) < processes_[static_cast<std::size_t>(one)].pace) return one;
    }
  }
  ucontext_t* context_of(int process) {
    return &processes_[static_cast<std::size_t>(process)].context;
  }

  Random random_;
  std::vector<Process> processes_;
  std::vector<int> running_;
  ucontext_t caller_;
  const std::function<void(int)>* body_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace resprout::runtime::testing
