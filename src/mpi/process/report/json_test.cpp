#include "mpi/process/report/json.hpp"

#include "doctest/doctest.h"

using resprout::shim::Json;

namespace {

std::string quoted(std::string_view value) { return Json().string(value).text(); }

}  // namespace

TEST_CASE("commas stand between values and nowhere else") {
  Json json;
  json.begin_object().key("a").number(-1).key("b").begin_array();
  json.null().boolean(true).begin_object().end_object().begin_array().end_array().string("x");
  json.end_array().key("c").boolean(false).end_object();
  CHECK(json.text() == R"({"a":-1,"b":[null,true,{},[],"x"],"c":false})");
}

TEST_CASE("64-bit times are written to the last digit") {
  CHECK(Json().number(INT64_MAX).text() == "9223372036854775807");
  CHECK(Json().number(INT64_MIN).text() == "-9223372036854775808");
}

TEST_CASE("quotes, backslashes and control characters are escaped") {
  CHECK(quoted("say \"no\"\\\n\t") == R"("say \"no\"\\\u000a\u0009")");
  CHECK(quoted(std::string_view("\0\x1f", 2)) == R"("\u0000\u001f")");
}

TEST_CASE("valid UTF-8 passes through") {
  for (const char* text : {"\u00e9", "\u20ac", "\U0001f331", "\x7f", "\ud7ff", "\U0010ffff"})
    CHECK(quoted(text) == "\"" + std::string(text) + "\"");
}

TEST_CASE("bytes that are not UTF-8 become the replacement character, the rest stays") {
  CHECK(quoted("a\xff"
               "b") == R"("a\ufffdb")");
  CHECK(quoted("\xc3") == R"("\ufffd")");                      // cut off
  CHECK(quoted("\xc0\xaf") == R"("\ufffd\ufffd")");            // overlong
  CHECK(quoted("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");  // a surrogate
  CHECK(quoted("\xf4\x90\x80\x80z") == R"("\ufffd\ufffd\ufffd\ufffdz")");
}

TEST_CASE("numbers with a point have as many digits as they need, and six at most") {
  Json json;
  json.begin_array().real(0).real(2.5).real(1.0 / 3).real(12345678).end_array();
  CHECK(json.text() == "[0,2.5,0.333333,1.23457e+07]");
}
