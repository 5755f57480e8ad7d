#include "sim/logp/faults.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace resprout::sim {
namespace {

__extension__ using Wide = unsigned __int128;
using Parsed = std::variant<std::vector<Death>, std::string>;

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Rank> rank_below(std::string_view text, std::int32_t procs) {
  const auto value = number<std::int32_t>(text);
  if (!value || *value < 0 || *value >= procs) return std::nullopt;
  return rank_at(*value);
}

// Percent of `procs`, rounded to the nearest.
std::optional<std::int64_t> share(std::string_view percent, std::int32_t procs) {
  const auto value = number<double>(percent);
  if (!value || !(*value >= 0) || *value > 100) return std::nullopt;
  return std::llround(*value * procs / 100);
}

}  // namespace

FaultDraw::FaultDraw(std::int32_t procs, Rank root) : root_(index(root)) {
  for (std::int32_t i = 0; i + 1 < procs; ++i) ranks_.push_back(in_order(i));
}

// What random.below(bound) says, without its divisions: most of the time of a draw. `inverse`:
// (2^64 - 1) / bound.
std::uint64_t FaultDraw::below(Random& random, std::uint64_t bound, std::uint64_t inverse) {
  for (;;) {
    const std::uint64_t value = random.next();
    if (value < bound && value < (0 - bound) % bound) [[unlikely]]
      continue;
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(value) * inverse >> 64);
    std::uint64_t rest = value - quotient * bound;
    while (rest >= bound) rest -= bound;  // the quotient is a little too small at most
    return rest;
  }
}

// The first `count` of a random order, which is undone afterwards. What place i had is put where
// the i-th one came from; nobody looks at place i again.
std::span<const Death> FaultDraw::draw(std::int64_t count, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(count);
  while (inverses_.size() < size)
    inverses_.push_back(UINT64_MAX / (ranks_.size() - inverses_.size()));
  if (deaths_.size() < size) {
    deaths_.resize(size);
    sources_.resize(size);
  }
  Random random(seed);
  std::int32_t* const ranks = ranks_.data();
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t source = i + below(random, ranks_.size() - i, inverses_[i]);
    deaths_[i] = {rank_at(ranks[source]), Time{0}};
    sources_[i] = static_cast<std::int32_t>(source);
    ranks[source] = ranks[i];
  }
  for (std::size_t i = 0; i < size; ++i) ranks[sources_[i]] = in_order(sources_[i]);
  return std::span(deaths_).first(size);
}

std::variant<Faults, std::string> Faults::parse(std::string_view text, std::int32_t procs,
                                                Rank root) {
  const std::string forms = "faults: '" + std::string(text) +
                            "' is none of: none, N (a count below " + std::to_string(procs) +
                            "), X% (of the processes but the root), N+M@T (M more at random "
                            "times before T), or ranks from 0 to " +
                            std::to_string(procs - 1) + " with commas (3,7,9; a single one: 3,)";
  Faults faults(procs, root);
  if (text == "none") return faults;
  if (text.find(',') != std::string_view::npos) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const auto rank = rank_below(text.substr(0, comma), procs);
      if (!rank) return forms;
      faults.named_.push_back({*rank, Time{0}});
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return faults;
  }
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto dead = number<std::int64_t>(text.substr(0, plus));
    const auto dying = number<std::int64_t>(text.substr(plus + 1, at - std::min(plus + 1, at)));
    const auto end = number<std::int64_t>(text.substr(std::min(at + 1, text.size())));
    const bool is_valid = dead && dying && end && *dead >= 0 && *dying >= 0 && *end > 0 &&
                          *dead < procs && *dying < procs - *dead;
    if (!is_valid) return forms;
    faults.count_ = *dead + *dying;
    faults.dying_ = *dying;
    faults.before_ = *end;
    return faults;
  }
  const bool is_share = text.ends_with('%');
  const auto count =
      is_share ? share(text.substr(0, text.size() - 1), procs) : number<std::int64_t>(text);
  if (!count || *count < 0 || *count > procs - 1) return forms;
  faults.count_ = *count;
  return faults;
}

bool Faults::names(Rank rank) const {
  return std::any_of(named_.begin(), named_.end(),
                     [rank](const Death& death) { return death.rank == rank; });
}

std::span<const Death> Faults::of(std::uint64_t seed) {
  if (count_ == 0) return named_;
  if (!draw_) draw_.emplace(procs_, root_);
  const std::span<const Death> drawn = draw_->draw(count_, seed);
  if (dying_ == 0) return drawn;
  timed_.assign(drawn.begin(), drawn.end());
  Random random(~seed);
  for (auto death = timed_.end() - dying_; death != timed_.end(); ++death)
    death->at = {static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(before_)))};
  return timed_;
}

Parsed parse_faults(std::string_view text, std::int32_t procs, Rank root, std::uint64_t seed) {
  auto parsed = Faults::parse(text, procs, root);
  if (auto* wrong = std::get_if<std::string>(&parsed)) return std::move(*wrong);
  const std::span<const Death> deaths = std::get<Faults>(parsed).of(seed);
  return std::vector<Death>(deaths.begin(), deaths.end());
}

Parsed parse_deaths(std::span<const std::string> texts, std::int32_t procs) {
  std::vector<Death> deaths;
  for (const std::string& text : texts) {
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto rank = rank_below(std::string_view(text).substr(0, at), procs);
    const auto time =
        number<std::int64_t>(std::string_view(text).substr(std::min(at + 1, text.size())));
    if (!rank || !time || *time < 0)
      return "fail-at: '" + text + "' is not RANK@T with a rank from 0 to " +
             std::to_string(procs - 1) + " and a time >= 0";
    deaths.push_back({*rank, Time{*time}});
  }
  return deaths;
}

}  // namespace resprout::sim
