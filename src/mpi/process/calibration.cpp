#include "mpi/process/calibration.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace resprout::shim {
namespace {

// Far more than anybody measures; what a text can make us allocate is bounded.
constexpr std::size_t rows_max = 64;
constexpr std::size_t switches_max = 64;
constexpr int counted_max = 1 << 20;

constexpr std::array<std::string_view, calibrated_kinds> calibrated_names{"barrier", "bcast",
                                                                          "reduce", "allreduce"};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string_view take_part(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return head;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// `name=4`
std::optional<int> count_of(std::string_view text, std::string_view name, int least) {
  const std::string_view key = take_part(text, '=');
  const auto count = number_of<int>(text);
  if (key != name || !count || *count < least || *count > counted_max) return std::nullopt;
  return count;
}

// `0.256.65536`
bool read_switches(std::string_view text, std::vector<std::size_t>& into) {
  while (!text.empty()) {
    const bool is_last = text.find('.') == std::string_view::npos;
    const auto bytes = number_of<std::size_t>(take_part(text, '.'));
    if (!bytes || (!into.empty() && *bytes <= into.back())) return false;
    if (!is_last && text.empty()) return false;
    if (into.size() == switches_max) return false;
    into.push_back(*bytes);
  }
  return true;
}

}  // namespace

std::string Calibration::parse(std::string_view text, Calibration& into) {
  Calibration parsed;
  const std::string_view head = take_part(text, ';');
  const auto cores = count_of(head, "cores", 1);
  if (!cores) return quoted(head) + " is not how it begins, which is cores=2, say";
  parsed.cores_ = *cores;
  if (text.empty()) return "it has no rows";
  while (!text.empty()) {
    if (std::string wrong = parsed.read_row(take_part(text, ';')); !wrong.empty()) return wrong;
  }
  into = std::move(parsed);
  return {};
}

std::string Calibration::read_row(std::string_view text) {
  const std::string what = quoted(text);
  Row row;
  const auto ranks = count_of(take_part(text, ','), "ranks", 2);
  if (!ranks) return what + " does not begin with ranks=2 or more";
  if (rows_.size() == rows_max) return "it has more than " + std::to_string(rows_max) + " rows";
  if (!rows_.empty() && *ranks <= rows_.back().ranks_)
    return what + " has not more ranks than the row before it";
  row.ranks_ = *ranks;
  for (std::size_t i = 0; i < calibrated_kinds; ++i) {
    std::string_view sizes = take_part(text, ',');
    if (take_part(sizes, '=') != calibrated_names[i] || !read_switches(sizes, row.switches_[i]))
      return what + " has no ascending sizes of " + std::string(calibrated_names[i]) +
             " at their place";
  }
  if (!text.empty()) return what + " has something behind its end";
  rows_.push_back(std::move(row));
  return {};
}

const Calibration::Row* Calibration::row_for(const Place& place) const {
  const Row* nearest = nullptr;
  double least = 2.0;  // how many times more or less, at most
  for (const Row& row : rows_) {
    if ((row.ranks_ > cores_) != place.is_crowded) continue;
    const double times = row.ranks_ > place.ranks ? double(row.ranks_) / place.ranks
                                                  : double(place.ranks) / row.ranks_;
    if (times > least || (nearest != nullptr && times == least)) continue;
    nearest = &row;
    least = times;
  }
  return nearest;
}

}  // namespace resprout::shim
