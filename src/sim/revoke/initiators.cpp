#include "sim/revoke/initiators.hpp"

#include <algorithm>
#include <charconv>

namespace resprout::sim {
namespace {

// -1: it is none, or negative.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      !text.empty() && error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return is_number ? value : -1;
}

}  // namespace

std::variant<std::vector<Revocation>, std::string> parse_initiators(std::string_view text,
                                                                    std::int32_t procs, Rank root) {
  std::vector<Revocation> initiators;
  if (text == "none") return initiators;
  if (text == root_revokes) return std::vector{Revocation{root, Time{0}}};
  const std::string refusal = "initiators: '" + std::string(text) +
                              "' is none of: root, none, or ranks from 0 to " +
                              std::to_string(procs - 1) +
                              " with commas, each once, each with the time at which it revokes or "
                              "without (3,7@20)";
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    const std::size_t at = std::min(one.find('@'), one.size());
    const std::int64_t rank = number(one.substr(0, at));
    const std::int64_t time = at == one.size() ? 0 : number(one.substr(at + 1));
    if (rank < 0 || rank >= procs || time < 0) return refusal;
    initiators.push_back({rank_at(static_cast<std::int32_t>(rank)), Time{time}});
    is_last = comma == text.size();
    if (!is_last) text.remove_prefix(comma + 1);
  }
  const auto is_before = [](const Revocation& a, const Revocation& b) { return a.rank < b.rank; };
  const auto is_same = [](const Revocation& a, const Revocation& b) { return a.rank == b.rank; };
  std::sort(initiators.begin(), initiators.end(), is_before);
  if (std::adjacent_find(initiators.begin(), initiators.end(), is_same) != initiators.end())
    return refusal;
  return initiators;
}

}  // namespace resprout::sim
