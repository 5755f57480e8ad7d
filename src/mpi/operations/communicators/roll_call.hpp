// What the members of a communicator say to each other before they make a new one: allreduces, so
// all who live hear the same, also if some fail meanwhile, and agree on who these are
// (docs/explanation/protocols/ftco_allreduce.md).
//
// In the first each says what it has to say, whether it knows of any loss, and which carriers it
// can use. If the MPI library is not to make the communicator, there are others: each reserves the
// best carrier that all can use and says whether it could, for another thread may have been at
// another communicator; then, if it is not clean, they drain it and say whether that went well, for
// somebody may have been lost. If it did not everywhere, they begin again. So they do, a number of
// times, where there is none but for those of communicators that some have freed: others may be
// about to free them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

class RollCall {
 public:
  // Each of the members of `session`, lost or not, may say `bytes_each`; who does not says zeros.
  // `may_drain`: the call waits; else only clean carriers will do.
  RollCall(runtime::Session& session, std::size_t bytes_each, bool may_drain = true);
  // A carrier that nobody has taken is free again.
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  // What this process says.
  std::span<std::byte> mine() { return at(self_); }
  // Where what a member says is, or is to be if it cannot say it itself.
  std::span<std::byte> at(int member) {
    return std::span(bytes_).subspan(place_of(member), bytes_each_);
  }
  // Collective over the session. If that is revoked, nothing is known afterwards.
  runtime::Outcome say(runtime::Lock& lock) { return step(lock); }
  // What the member said that is the `member`-th of session.everybody().
  std::span<const std::byte> of(int member) const {
    return std::span(bytes_).subspan(place_of(member), bytes_each_);
  }
  // None of them knew of any loss in the world: MPI may make it.
  bool is_peaceful() const { return !is_said(knows_of_loss); }
  // All of them may make a native one for it (handles/communicators/natives.hpp).
  bool may_have_native() const { return !is_said(has_enough_natives); }

  // Collective over the session: everything up to the end.
  void find_carrier(runtime::Lock& lock);
  // Reserved by all members; -1: there was none.
  int pool_index() const { return pool_index_; }
  // As spare(), for a communicator that takes it: it is reserved no longer.
  int take_carrier();

  // The same in steps, for those who do not wait: until is_over(), the bytes
  // that the next allreduce takes, and what became of them.
  std::span<const std::byte> next_words();
  void hear(std::span<const std::byte> all);
  bool is_over() const { return stage_ == Stage::over; }

 private:
  enum class Stage { saying, reserving, draining, over };
  // Said by any.
  static constexpr std::byte knows_of_loss{1};
  static constexpr std::byte has_enough_natives{2};
  static constexpr std::byte has_carriers_departing{4};

  bool is_said(std::byte what) const {
    return (bytes_[sizeof(CarrierWords)] & what) != std::byte{0};
  }

  std::size_t place_of(int member) const {
    return sizeof(CarrierWords) + 1 + bytes_each_ * static_cast<std::size_t>(member);
  }
  runtime::Outcome step(runtime::Lock& lock);
  void choose();
  void conclude(bool has_anybody_failed);
  void give_back();

  runtime::Session& session_;
  const int self_;
  const std::size_t bytes_each_;
  const bool may_drain_;
  std::vector<std::byte> bytes_;
  Stage stage_ = Stage::saying;
  int candidate_ = -1;
  bool is_mine_ = false;  // it is reserved here
  bool has_to_be_drained_ = false;
  std::byte has_failed_{0};
  int pool_index_ = -1;
};

}  // namespace resprout::shim
