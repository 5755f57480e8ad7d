// What a member says of itself: a few words, given at its start, that all other members show.
//
// As text it is a line `key=value` a tag, in the order of the keys, at most 512 bytes in all. A key
// has letters, digits and `_`, `-` and `.`; a value is printable ASCII without `"` and `\`, so both
// stand in JSON as they are.
//
// Thread rule: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace resprout::runtime::member {

inline constexpr std::size_t tags_bytes_max = 512;

using Tags = std::map<std::string, std::string>;

// Nothing if the text is not written as above; no text is no tags.
std::optional<Tags> parse_tags(std::string_view text);

std::string text_of(const Tags& tags);

}  // namespace resprout::runtime::member
