// Tags as text: what is written is read again, and what could not stand in JSON is none.
#include "runtime/member/tags.hpp"

#include "doctest/doctest.h"

namespace resprout::runtime::member {
namespace {

TEST_CASE("tags that are written are read again") {
  const Tags tags = {{"dc", "fra 1"}, {"role", "db=main"}, {"zero", ""}};
  CHECK(text_of(tags) == "dc=fra 1\nrole=db=main\nzero=\n");
  CHECK(parse_tags(text_of(tags)) == tags);
  CHECK(parse_tags("") == Tags{});
}

TEST_CASE("what is written otherwise is no tags") {
  for (const char* const text : {"role", "role=db", "=db\n", "ro le=db\n", "role=\"\n", "role=\\\n",
                                 "role=\t\n", "b=1\na=2\n", "a=1\na=2\n", "\n"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_tags(text));
  }
}

TEST_CASE("tags have at most 512 bytes") {
  const std::string longest = "a=" + std::string(tags_bytes_max - 3, 'x') + "\n";
  CHECK(longest.size() == tags_bytes_max);
  CHECK(parse_tags(longest));
  CHECK_FALSE(parse_tags("a" + longest));
}

}  // namespace
}  // namespace resprout::runtime::member
