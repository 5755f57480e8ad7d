// See tags.hpp.
#include "runtime/member/tags.hpp"

#include <algorithm>

namespace resprout::runtime::member {
namespace {

bool is_of_key(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
}

bool is_of_value(char letter) {
  return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
}

}  // namespace

std::optional<Tags> parse_tags(std::string_view text) {
  if (text.size() > tags_bytes_max) return std::nullopt;
  Tags tags;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t equals = line.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos || equals == 0)
      return std::nullopt;
    const std::string key(line.substr(0, equals));
    const std::string value(line.substr(equals + 1));
    const bool is_in_order = tags.empty() || tags.rbegin()->first < key;
    if (!is_in_order || !std::ranges::all_of(key, is_of_key) ||
        !std::ranges::all_of(value, is_of_value))
      return std::nullopt;
    tags[key] = value;
    text.remove_prefix(end + 1);
  }
  return tags;
}

std::string text_of(const Tags& tags) {
  std::string text;
  for (const auto& [key, value] : tags) {
    text += key;
    text += '=';
    text += value;
    text += '\n';
  }
  return text;
}

}  // namespace resprout::runtime::member
