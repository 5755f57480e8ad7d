#include "sim/revoke/initiators.hpp"

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

std::string read(std::string_view text, int root = 2) {
  const auto parsed = parse_initiators(text, 8, rank_at(root));
  if (const auto* wrong = std::get_if<std::string>(&parsed)) return *wrong;
  std::string words;
  for (const Revocation& one : std::get<std::vector<Revocation>>(parsed))
    words += (words.empty() ? "" : " ") + std::to_string(index(one.rank)) + "@" +
             std::to_string(one.at.ticks);
  return words;
}

TEST_CASE("initiators are the root, nobody, or those that are named, with their times") {
  CHECK(read("root") == "2@0");
  CHECK(read("none") == "");
  CHECK(read("5") == "5@0");
  CHECK(read("7,3@20,0") == "0@0 3@20 7@0");
}

TEST_CASE("other initiators are refused with the valid ones") {
  for (const char* text :
       {"", ",", "8", "-1", "3,", "3,3", "3@", "3@x", "3@-1", "x", "3 ", "3@1@2"}) {
    CAPTURE(text);
    CHECK(read(text).find("none of: root, none, or ranks from 0 to 7") != std::string::npos);
  }
}

}  // namespace
}  // namespace resprout::sim
