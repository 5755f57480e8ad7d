#include "mpi/operations/communicators/roll_call.hpp"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "mpi/carriers/bitwise_or.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/process/world.hpp"
#include "runtime/collectives.hpp"

namespace resprout::shim {
namespace {

// A millisecond each at least.
constexpr int waits_max = 200;

}  // namespace

RollCall::RollCall(runtime::Session& session, std::size_t bytes_each, bool may_drain)
    : session_(session),
      self_(index(session.everybody().self())),
      bytes_each_(bytes_each),
      may_drain_(may_drain),
      bytes_(place_of(session.everybody().size())) {}

RollCall::~RollCall() {
  give_back();
  if (pool_index_ >= 0) give_back_carrier(pool_index_);
}

void RollCall::give_back() {
  if (is_mine_) give_back_carrier(candidate_);
  is_mine_ = false;
}

int RollCall::take_carrier() { return std::exchange(pool_index_, -1); }

runtime::Outcome RollCall::step(runtime::Lock& lock) {
  BitwiseOr any;
  const std::span<const std::byte> words = next_words();
  return runtime::allreduce(session_, lock, reduce_spec(session_, words.size()), words, any,
                            [&](std::span<const std::byte> all) { hear(all); });
}

void RollCall::find_carrier(runtime::Lock& lock) {
  for (int waits = 0;; ++waits) {
    while (!is_over() && !session_.is_revoked()) {
      if (stage_ == Stage::draining) {
        lock.unlock();
        has_failed_ = drain(candidate_, session_) ? std::byte{0} : std::byte{1};
        lock.lock();
      }
      step(lock);
    }
    const bool may_come = pool_index_ < 0 && is_said(has_carriers_departing) && waits < waits_max;
    if (!may_come || session_.is_revoked()) return;
    finish_departures(World::current()->engine(), lock);
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
    stage_ = Stage::saying;
  }
}

std::span<const std::byte> RollCall::next_words() {
  if (stage_ != Stage::saying) return {&has_failed_, 1};
  CarrierWords mine = carriers_for(session_);
  if (!may_drain_) mine.unusable |= mine.unclean;
  std::memcpy(bytes_.data(), &mine, sizeof mine);
  std::byte& flags = bytes_[sizeof mine];
  flags = std::byte{0};
  if (!may_mpi_make_any()) flags |= knows_of_loss;
  if (!may_make_native()) flags |= has_enough_natives;
  if (is_any_carrier_departing()) flags |= has_carriers_departing;
  return bytes_;
}

void RollCall::hear(std::span<const std::byte> all) {
  if (stage_ != Stage::saying) return conclude(all[0] != std::byte{0});
  std::memcpy(bytes_.data(), all.data(), all.size());
  choose();
}

void RollCall::choose() {
  CarrierWords all;
  std::memcpy(&all, bytes_.data(), sizeof all);
  candidate_ = choose_carrier(all);
  stage_ = candidate_ < 0 ? Stage::over : Stage::reserving;
  if (candidate_ < 0) return;
  is_mine_ = reserve_carrier(candidate_);
  has_failed_ = is_mine_ ? std::byte{0} : std::byte{1};
  has_to_be_drained_ = (all.unclean >> candidate_ & 1) != 0;
}

void RollCall::conclude(bool has_anybody_failed) {
  if (has_anybody_failed) {
    // What could not be drained stays in use: it is broken.
    if (stage_ == Stage::reserving) give_back();
    is_mine_ = false;
    stage_ = Stage::saying;
  } else if (stage_ == Stage::reserving && has_to_be_drained_) {
    stage_ = Stage::draining;
  } else {
    pool_index_ = candidate_;
    is_mine_ = false;
    stage_ = Stage::over;
  }
}

}  // namespace resprout::shim
