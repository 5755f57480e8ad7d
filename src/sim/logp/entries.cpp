#include "sim/logp/entries.hpp"

#include <bit>
#include <charconv>

#include "core/random.hpp"

namespace resprout::sim {
namespace {

// The sum of 256 fair coins in 4 throws of 64: as good as normal within 5 deviations, and the same
// on every machine, which logarithms are not. In 2^-16 of a deviation, smoothed between the steps.
std::int64_t nearly_normal(Random& random) {
  int heads = 0;
  for (int i = 0; i < 4; ++i) heads += std::popcount(random.next());
  // A deviation of the sum is sqrt(256) / 2 = 8 coins.
  const auto smooth = static_cast<std::int64_t>(random.below(65536 / 8));
  return (std::int64_t{heads} - 128) * (65536 / 8) + smooth - 65536 / 16;
}

}  // namespace

std::vector<Time> Entries::draw(std::int32_t procs, std::uint64_t seed) const {
  if (kind == Kind::together) return {};
  // Not the stream that draws the dead.
  Random random(seed ^ 0x9e3779b97f4a7c15u);
  std::vector<Time> times;
  times.reserve(static_cast<std::size_t>(procs));
  while (times.size() < static_cast<std::size_t>(procs)) {
    Duration at = 0;
    if (kind == Kind::uniform)
      at = static_cast<Duration>(random.below(static_cast<std::uint64_t>(spread)));
    else
      at = spread / 2 + nearly_normal(random) * spread / 10 / 65536;
    if (at >= 0 && at < spread) times.push_back({at});
  }
  return times;
}

std::variant<Entries, std::string> parse_entries(std::string_view text) {
  constexpr Duration spread_max = Duration{1} << 32;
  if (text == "none") return Entries{};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view digits = text.substr(std::min(colon + 1, text.size()));
  Entries entries{name == "normal" ? Entries::Kind::normal : Entries::Kind::uniform};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), entries.spread);
  const bool is_number =
      !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
  if ((name != "uniform" && name != "normal") || !is_number || entries.spread < 1 ||
      entries.spread > spread_max)
    return "late: '" + std::string(text) +
           "' is none of: none, uniform:S, normal:S, with a spread S from 1 to 2^32";
  return entries;
}

}  // namespace resprout::sim
