// A step of a story (story.hpp) at one process: waited for, or started.
#pragma once

#include <array>

#include "runtime/collectives.hpp"
#include "runtime/started.hpp"
#include "runtime/testing/story_got.hpp"

namespace resprout::runtime::testing {

inline void run_in_slices(Lock& lock, Session& session, const Step& what, std::size_t step,
                          Got& got) {
  std::array<Payload, slices_each> mine;
  std::array<Slice, slices_each> slices;
  PartSum sum(!what.is_ordered);
  for (std::size_t i = 0; i < slices_each; ++i) {
    mine[i] = Payload(part_of(session, step, i), what.bytes);
    slices[i] = {mine[i].bytes(), &sum};
  }
  std::size_t slice = 0;
  const auto take = [&](std::span<const std::byte> bytes) {
    const Part part = Part::from(bytes);
    got.is_good = got.is_good && Payload::is_whole(bytes, what.bytes) &&
                  part.is_sum_of(step, slice) && (slice == 0 || part.ranks == got.ranks);
    got.ranks = part.ranks;
    ++slice;
  };
  const ReduceSpec spec = reduce_spec(what);
  while (!session.allreduce_in_slices(lock, spec, slices, take).is_delivered)
    if (session.is_revoked()) return;
}

inline void run_by_messages(Lock& lock, Session& session, const Step& what, std::size_t step,
                            Got& got) {
  const Payload mine(part_of(session, step), what.bytes);
  const ReduceSpec spec = reduce_spec(what);
  PartSum sum(!what.is_ordered);
  const auto take = [&](std::span<const std::byte> bytes) { got.take(what, step, bytes); };
  const auto take_row = [&](std::span<const std::byte> row) {
    got.take_row(session, what, step, row);
  };
  switch (what.kind) {
    case Kind::allreduce:
    case Kind::native_allreduce:
      allreduce(session, lock, spec, mine.bytes(), sum, take);
      break;
    case Kind::agree:
      agree(session, lock, spec, mine.bytes(), sum, take);
      break;
    case Kind::slices:
      run_in_slices(lock, session, what, step, got);
      break;
    case Kind::barrier:
      barrier(session, lock);
      break;
    case Kind::reduce:
      reduce(session, lock, spec, what.root, mine.bytes(), sum, take);
      break;
    case Kind::gather:
    case Kind::native_gather:
      gather(session, lock, spec, what.root, row_of(session, mine), take_row);
      break;
    case Kind::allgather:
    case Kind::native_allgather:
    case Kind::native_scan:
      allgather(session, lock, spec, row_of(session, mine), take_row);
      break;
    case Kind::broadcast:
    case Kind::native_broadcast:
    case Kind::voted_broadcast:
      broadcast(session, lock, broadcast_spec(what), what.root, mine.bytes(), take);
      if (self_of(session) == what.root) got.ranks = Part::from(mine.bytes()).ranks;
      break;
  }
}

// A step that is started, and not waited for.
class StartedStep final : public Task {
 public:
  StartedStep(Session& session, const Step& what, std::size_t step, Got& got)
      : session_(session),
        started_(session),
        what_(what),
        step_(step),
        mine_(part_of(session, step), what.bytes),
        sum_(!what.is_ordered),
        got_(got) {}

  // As operators of a program are: so others may have to wait for its threads.
  bool is_for_program() const override { return sum_.is_for_program(); }

  bool advance() override {
    if (!has_begun_) {
      got_.is_begun_revoked = session_.is_revoked();
      begin();
    }
    has_begun_ = true;
    const bool is_over = started_.advance([&](std::span<const std::byte> bytes) {
      if (what_.kind == Kind::gather || what_.kind == Kind::allgather)
        got_.take_row(session_, what_, step_, bytes);
      else if (what_.kind != Kind::barrier)
        got_.take(what_, step_, bytes);
    });
    if (!is_over) return false;
    if (what_.is_broadcast() && self_of(session_) == what_.root)
      got_.ranks = Part::from(mine_.bytes()).ranks;
    got_.end(session_);
    if (what_.kind == Kind::barrier) got_.ranks = got_.contributors;
    return true;
  }

 private:
  void begin() {
    const std::span<const std::byte> input = mine_.bytes();
    const ReduceSpec spec = reduce_spec(what_);
    switch (what_.kind) {
      case Kind::agree:
        return started_.agree(spec, input, sum_);
      case Kind::barrier:
        return started_.barrier();
      case Kind::reduce:
        return started_.reduce(spec, what_.root, input, sum_);
      case Kind::gather:
        return started_.gather(spec, what_.root, row_of(session_, mine_));
      case Kind::allgather:
        return started_.allgather(spec, row_of(session_, mine_));
      case Kind::broadcast:
        return started_.broadcast(broadcast_spec(what_), what_.root, input);
      default:
        return started_.allreduce(spec, input, sum_);
    }
  }

  Session& session_;
  Started started_;
  const Step what_;
  const std::size_t step_;
  const Payload mine_;
  PartSum sum_;
  bool has_begun_ = false;
  Got& got_;
};

}  // namespace resprout::runtime::testing
