#include "runtime/biased_mutex.hpp"

#include "doctest/doctest.h"

#include <atomic>
#include <thread>

using resprout::runtime::BiasedMutex;

namespace {

constexpr int rounds = 200000;

// Counts without atomicity: only a mutex that works makes the sum right.
struct Counted {
  BiasedMutex mutex;
  long count = 0;

  void count_often() {
    for (int i = 0; i < rounds; ++i) {
      const std::lock_guard guard(mutex);
      ++count;
    }
  }
};

}  // namespace

TEST_CASE("the owner and a thread that looks in exclude each other") {
  Counted it;
  std::atomic<bool> is_over{false};
  long looks = 0;
  it.mutex.lock();  // the owner is this thread
  it.mutex.unlock();
  std::thread visitor([&] {
    while (!is_over.load()) {
      if (!it.mutex.try_lock()) continue;
      ++it.count;
      ++looks;
      it.mutex.unlock();
    }
  });
  it.count_often();
  is_over.store(true);
  visitor.join();
  CHECK(it.count == rounds + looks);
}

TEST_CASE("several threads that lock exclude each other") {
  Counted it;
  std::thread one([&] { it.count_often(); });
  std::thread two([&] { it.count_often(); });
  it.count_often();
  one.join();
  two.join();
  CHECK(it.count == 3 * rounds);
}

TEST_CASE("who looks in while the owner is inside is turned away, afterwards not") {
  BiasedMutex mutex;
  const auto is_free = [&] {
    bool is_locked = false;
    std::thread([&] {
      is_locked = mutex.try_lock();
      if (is_locked) mutex.unlock();
    }).join();
    return is_locked;
  };
  for (int i = 0; i < 3; ++i) {
    mutex.lock();
    CHECK(!is_free());
    mutex.unlock();
    CHECK(is_free());
  }
}

TEST_CASE("the owner waits for who has looked in first") {
  BiasedMutex mutex;
  mutex.lock();
  mutex.unlock();
  std::atomic<bool> is_held{false};
  bool is_done = false;
  std::thread visitor([&] {
    while (!mutex.try_lock()) {
    }
    is_held.store(true);
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    is_done = true;
    mutex.unlock();
  });
  while (!is_held.load()) std::this_thread::yield();
  mutex.lock();
  CHECK(is_done);
  mutex.unlock();
  visitor.join();
}
