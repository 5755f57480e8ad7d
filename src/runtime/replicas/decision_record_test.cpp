#include "runtime/replicas/decision_record.hpp"

#include "doctest/doctest.h"

using resprout::runtime::DecisionRecord;

namespace {

constexpr std::uint32_t probe = 2;
constexpr std::uint32_t test = 4;

DecisionRecord::Bytes bytes(int value) { return {static_cast<std::byte>(value)}; }

}  // namespace

TEST_CASE("an empty record has nothing to say") {
  DecisionRecord record;
  CHECK(record.is_through());
  CHECK_FALSE(record.next());
}

TEST_CASE("answers and refusals come again in their order, as often as one goes back") {
  DecisionRecord record;
  record.note(test, std::nullopt);
  record.note(test, std::nullopt);
  record.note(test, bytes(1));
  record.note(probe, bytes(2));
  record.note(test, std::nullopt);
  for (int round = 0; round < 2; ++round) {
    record.rewind();
    CHECK_FALSE(record.next()->is_answered());
    CHECK_FALSE(record.next()->is_answered());
    const auto tested = record.next();
    CHECK(tested->kind == test);
    CHECK(tested->answer == bytes(1));
    const auto probed = record.next();
    CHECK(probed->kind == probe);
    CHECK(probed->answer == bytes(2));
    CHECK_FALSE(record.is_through());
    CHECK_FALSE(record.next()->is_answered());
    CHECK(record.is_through());
    CHECK_FALSE(record.next());
  }
}
