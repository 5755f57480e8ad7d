// Writes JSON (RFC 8259), nothing more: commas and escapes are its business, nesting the caller's.
//
//   Json json;
//   json.begin_object().key("rank").number(3).key("lost").begin_array().number(1).end_array();
//   json.end_object();
//
// Text that is not UTF-8 (a host name, a fault) stays JSON: bytes that do not belong to a valid
// sequence become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace resprout::shim {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }

  Json& key(std::string_view name);
  Json& string(std::string_view value);
  Json& number(std::int64_t value) { return literal(std::to_string(value)); }
  // With 6 digits. REQUIRES: it is finite.
  Json& real(double value);
  Json& boolean(bool value) { return literal(value ? "true" : "false"); }
  Json& null() { return literal("null"); }

  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& literal(std::string_view value);
  void separate();
  void append_quoted(std::string_view value);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace resprout::shim
