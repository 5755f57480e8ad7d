#include "runtime/operation_log.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "runtime/session_test.hpp"

namespace resprout::runtime {
namespace {

// A log of a process that is alone.
struct Log {
  Wire wire{1};
  MemoryTransport transport{wire, 0, 1, false};
  Agenda agenda;
  OperationLog log{transport, agenda};

  OperationRecord& begin() {
    log.take_number();
    return log.add();
  }
};

EarlyFrame frame_from(int peer) { return {peer, {}, {}, {}}; }

TEST_CASE("an operation is found by its number until it is forgotten") {
  Log it;
  it.begin().root = rank_at(4);
  it.begin().root = rank_at(5);
  REQUIRE(it.log.find(1) != nullptr);
  CHECK(it.log.find(1)->root == rank_at(5));
  CHECK(it.log.find(2) == nullptr);
  it.log.forget_before(1);
  CHECK(it.log.first() == 1);
  CHECK(it.log.next() == 2);
  CHECK(it.log.find(0) == nullptr);
  CHECK(it.log.find(1)->root == rank_at(5));
}

TEST_CASE("a barrier is due after many operations, or after many bytes") {
  Log it;
  for (int i = 1; i < unsynchronized_max; ++i) CHECK_FALSE(it.log.note_unsynchronized(0));
  CHECK(it.log.note_unsynchronized(0));
  it.log.forget_before(0);
  CHECK_FALSE(it.log.note_unsynchronized(kept_bytes_max - 1));
  CHECK(it.log.note_unsynchronized(1));
}

TEST_CASE("a frame that came early is taken once") {
  Log it;
  it.log.keep_early(3, frame_from(7));
  CHECK(it.log.has_early(3));
  CHECK(it.log.has_early_of(7));
  CHECK_FALSE(it.log.has_early_of(6));
  CHECK(it.log.take_early(2).empty());
  const auto frames = it.log.take_early(3);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].peer == 7);
  CHECK_FALSE(it.log.has_early());
}

TEST_CASE("frames for operations that have begun say nothing of who is ahead") {
  Log it;
  it.log.keep_early(0, frame_from(7));
  it.begin();
  CHECK(it.log.has_early(0));
  CHECK_FALSE(it.log.has_early_of(7));
}

TEST_CASE("what an abandoned session has said stays readable until it is given back") {
  Log it;
  OperationRecord& record = it.begin();
  const auto said = std::as_bytes(std::span("word"));
  record.payload = it.log.payloads().append(said);
  const std::span<const std::byte> where = *record.payload;
  it.log.keep_early(1, frame_from(2));
  it.log.abandon();
  CHECK_FALSE(it.log.has_early());
  it.log.forget_before(1);
  CHECK(std::equal(said.begin(), said.end(), where.begin()));
  const auto next = it.log.payloads().append(said);
  CHECK(next.data() != where.data());
  it.log.give_back();
  CHECK(it.log.next() == 1);
}

}  // namespace
}  // namespace resprout::runtime
