// What is given late is given once.
#include "protocols/patient_allreduce/owed.hpp"

#include <string>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

const auto join = [](const std::string& earlier, const std::string& later) {
  return earlier + later;
};

TEST_CASE("a call in time gives what is its own") {
  Owed<std::string> owed;
  CHECK(owed.give("a", join) == "a");
  CHECK_FALSE(owed.is_owing());
}

TEST_CASE("what late calls owe goes into the next one that is in time, the earlier first") {
  Owed<std::string> owed;
  owed.put_off("a", join);
  owed.put_off("b", join);
  CHECK(owed.is_owing());
  CHECK(owed.sum() == "ab");
  CHECK(owed.give("c", join) == "abc");
  CHECK_FALSE(owed.is_owing());
  CHECK(owed.give("d", join) == "d");
}

TEST_CASE("whatever calls are late, all is given once or owed") {
  Random random(1);
  Owed<std::string> owed;
  std::string given;
  std::string made;
  for (int call = 0; call < 1000; ++call) {
    const std::string own(1, static_cast<char>('a' + call % 26));
    made += own;
    if (random.chance(1, 3))
      owed.put_off(own, join);
    else
      given += owed.give(own, join);
    CHECK(given + (owed.is_owing() ? owed.sum() : "") == made);
  }
}

}  // namespace
}  // namespace resprout::protocols
