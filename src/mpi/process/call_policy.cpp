#include "mpi/process/call_policy.hpp"

#include <atomic>

namespace resprout::shim {
namespace {

struct NoPolicy final : CallPolicy {};

constinit const NoPolicy no_policy;
constinit std::atomic<const CallPolicy*> chosen_policy{&no_policy};

}  // namespace

const CallPolicy& call_policy() { return *chosen_policy.load(std::memory_order_acquire); }

void choose_call_policy(const CallPolicy* policy) {
  chosen_policy.store(policy != nullptr ? policy : &no_policy, std::memory_order_release);
}

}  // namespace resprout::shim
