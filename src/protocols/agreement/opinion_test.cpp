// What several opinions come to.
#include "protocols/agreement/opinion.hpp"

#include <array>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using Opinion = std::array<std::byte, opinion_bytes(10)>;

template <typename... Ranks>
Opinion opinion(std::int32_t flag, Ranks... acknowledged) {
  const std::array<std::int32_t, sizeof...(Ranks)> ranks{acknowledged...};
  Opinion made;
  made.fill(std::byte{0xff});
  write_opinion(made, flag, ranks);
  return made;
}

bool is_failure(const Opinion& agreed, std::int32_t lost) {
  return has_unknown_failure(agreed, 10, [lost](std::int32_t rank) { return rank == lost; });
}

TEST_CASE("an opinion is a flag and a bit for each rank, in whole bytes") {
  CHECK(opinion_bytes(1) == 5);
  CHECK(opinion_bytes(8) == 5);
  CHECK(opinion_bytes(9) == 6);
  const Opinion mine = opinion(-6, 0, 9);
  CHECK(flag_of(mine) == -6);
  CHECK(acknowledges(mine, 0));
  CHECK(acknowledges(mine, 9));
  CHECK_FALSE(acknowledges(mine, 1));
  CHECK_FALSE(acknowledges(mine, 8));
}

TEST_CASE("the flag that is agreed on is the AND of all flags") {
  Opinion agreed = opinion(0b1110);
  agree_on(opinion(0b0111), agreed);
  CHECK(flag_of(agreed) == 0b0110);
  agree_on(opinion(-1), agreed);
  CHECK(flag_of(agreed) == 0b0110);
}

TEST_CASE("a failure is known if all have acknowledged it, and nobody lost is none") {
  Opinion agreed = opinion(1, 3, 9);
  CHECK_FALSE(is_failure(agreed, 3));
  CHECK(is_failure(agreed, 4));
  agree_on(opinion(1, 9, 4), agreed);
  CHECK(is_failure(agreed, 3));
  CHECK(is_failure(agreed, 4));
  CHECK_FALSE(is_failure(agreed, 9));
  CHECK_FALSE(is_failure(agreed, -1));
}

}  // namespace
}  // namespace resprout::protocols
