#include "mpi/process/report/json.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace resprout::shim {
namespace {

// The length of the valid UTF-8 sequence that `text` starts with; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  std::size_t length = 0;
  unsigned second_min = 0x80;
  unsigned second_max = 0xbf;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf)
    length = 2;
  else if (first >= 0xe0 && first <= 0xef)
    length = 3;
  else if (first >= 0xf0 && first <= 0xf4)
    length = 4;
  if (length == 0 || text.size() < length) return 0;
  // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
  if (first == 0xe0) second_min = 0xa0;
  if (first == 0xed) second_max = 0x9f;
  if (first == 0xf0) second_min = 0x90;
  if (first == 0xf4) second_max = 0x8f;
  if (at(1) < second_min || at(1) > second_max) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  return length;
}

}  // namespace

Json& Json::key(std::string_view name) {
  separate();
  append_quoted(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

Json& Json::real(double value) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6);
  return literal({text.data(), static_cast<std::size_t>(end.ptr - text.data())});
}

Json& Json::string(std::string_view value) {
  separate();
  append_quoted(value);
  return *this;
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

Json& Json::literal(std::string_view value) {
  separate();
  text_ += value;
  return *this;
}

void Json::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void Json::append_quoted(std::string_view value) {
  text_ += '"';
  while (!value.empty()) {
    const char c = value.front();
    const std::size_t length = sequence_length(value);
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      text_ += escaped;
    } else {
      text_ += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace resprout::shim
