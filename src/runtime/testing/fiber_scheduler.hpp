// Runs several processes on one thread, in an order that a seed decides: whatever happens
// between them happens again with the same seed.
#pragma once

#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#  include <sanitizer/tsan_interface.h>
#endif

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "core/random.hpp"

namespace resprout::runtime::testing {

// To the thread sanitizer each process is a thread; without this what one holds is held by all.
#if defined(__SANITIZE_THREAD__)
class Fiber {
 public:
  static Fiber current() { return Fiber(__tsan_get_current_fiber()); }
  static Fiber make() { return Fiber(__tsan_create_fiber(0)); }
  void end() const { __tsan_destroy_fiber(handle_); }
  void go_on() const { __tsan_switch_to_fiber(handle_, 0); }

 private:
  explicit Fiber(void* handle) : handle_(handle) {}
  void* handle_;
};
#else
struct Fiber {
  static Fiber current() { return {}; }
  static Fiber make() { return {}; }
  void end() const {}
  void go_on() const {}
};
#endif

// Nothing has come to an end for so long that nothing ever will.
struct Stuck : std::exception {};

// Whose turn it is.
class FiberScheduler {
 public:
  FiberScheduler(int processes, std::uint64_t seed)
      : random_(seed), processes_(static_cast<std::size_t>(processes)) {
    for (Process& process : processes_) process.pace = 1 + random_.below(pace_max);
  }
  ~FiberScheduler() {
    for (const Process& process : processes_) process.fiber.end();
  }
  FiberScheduler(const FiberScheduler&) = delete;
  FiberScheduler& operator=(const FiberScheduler&) = delete;

  Random& random() { return random_; }
  std::uint64_t count() const { return count_; }
  bool is_stuck() const { return count_ >= count_max; }

  // Calls `body(i)` for each process, with stacks of their own; returns when all have returned.
  // `body` catches whatever is thrown.
  void run(const std::function<void(int)>& body) {
    body_ = &body;
    for (int i = 0; i < static_cast<int>(processes_.size()); ++i) prepare(i);
    const int first = pick();
    leave_stack(&caller_fake_, stack_of(first), stack_bytes);
    fiber_of(first).go_on();
    swapcontext(&caller_, context_of(first));
    arrive_on_stack(caller_fake_);
  }
  // Some process goes on, perhaps this one.
  void pass(int self) {
    ++count_;
    const int next = pick();
    if (next != self) {
      void* fake = nullptr;
      leave_stack(&fake, stack_of(next), stack_bytes);
      fiber_of(next).go_on();
      swapcontext(context_of(self), context_of(next));
      arrive_on_stack(fake);
    }
    if (is_stuck()) throw Stuck{};
  }

 private:
  static constexpr std::uint64_t count_max = 4000000;
  static constexpr std::uint64_t pace_max = 8;
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  struct Process {
    ucontext_t context;
    Fiber fiber = Fiber::make();
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
    makecontext(context, reinterpret_cast<void (*)()>(&FiberScheduler::enter), 3,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self), process);
  }
  static void enter(unsigned high, unsigned low, int process) {
    auto* scheduler = reinterpret_cast<FiberScheduler*>(std::uintptr_t{high} << 32 | low);
    scheduler->arrive_on_stack(nullptr);
    (*scheduler->body_)(process);
    scheduler->leave(process);
  }
  void leave(int process) {
    std::erase(running_, process);
    if (running_.empty()) {
      leave_stack(nullptr, caller_stack_, caller_stack_bytes_);
      caller_fiber_.go_on();
      setcontext(&caller_);
    }
    const int next = pick();
    leave_stack(nullptr, stack_of(next), stack_bytes);
    fiber_of(next).go_on();
    setcontext(context_of(next));
  }
  // The address sanitizer has to know on which stack it is.
#if defined(__SANITIZE_ADDRESS__)
  static void leave_stack(void** fake, const void* stack, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake, stack, bytes);
  }
  void arrive_on_stack(void* fake) {
    const void* from = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake, &from, &bytes);
    if (caller_stack_ != nullptr) return;
    caller_stack_ = from;
    caller_stack_bytes_ = bytes;
  }
#else
  static void leave_stack(void**, const void*, std::size_t) {}
  void arrive_on_stack(void*) {}
#endif
  const Fiber& fiber_of(int process) { return processes_[static_cast<std::size_t>(process)].fiber; }
  const void* stack_of(int process) {
    return processes_[static_cast<std::size_t>(process)].stack.get();
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
  const Fiber caller_fiber_ = Fiber::current();
  void* caller_fake_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  const std::function<void(int)>* body_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace resprout::runtime::testing
