#include "sim/logp/noise.hpp"

namespace resprout::sim {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::variant<NoiseMean, std::string> parse_noise(std::string_view text) {
  if (text == "none") return NoiseMean{0};
  const std::string wrong = "noise: '" + std::string(text) +
                            "' is not none, or a mean from 0.001 to 1000 ticks with at most three "
                            "digits behind the point";
  std::int64_t mean = 0;
  std::size_t at = 0;
  for (; at < text.size() && at < 5 && is_digit(text[at]); ++at)
    mean = mean * 10 + (text[at] - '0');
  if (at == 0) return wrong;
  std::int64_t digit = 1000;
  mean *= digit;
  if (at < text.size() && text[at] == '.') {
    if (at + 1 == text.size()) return wrong;
    for (++at; at < text.size() && digit > 1 && is_digit(text[at]); ++at)
      mean += (digit /= 10) * (text[at] - '0');
  }
  if (at != text.size() || mean < 1 || mean > noise_max) return wrong;
  return static_cast<NoiseMean>(mean);
}

}  // namespace resprout::sim
