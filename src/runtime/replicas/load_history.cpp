#include "runtime/replicas/load_history.hpp"

#include <algorithm>

namespace resprout::runtime {

void LoadHistory::advance(std::int64_t now_ns) {
  if (began_ns_ < 0) began_ns_ = last_ns_ = now_ns;
  while (now_ns - began_ns_ > interval_ns_ * static_cast<std::int64_t>(intervals_max)) halve();
  while (last_ns_ < now_ns) {
    const std::int64_t interval = (last_ns_ - began_ns_) / interval_ns_;
    const std::int64_t until = std::min(now_ns, began_ns_ + (interval + 1) * interval_ns_);
    add(until - last_ns_, static_cast<std::size_t>(interval));
    last_ns_ = until;
  }
}

void LoadHistory::add(std::int64_t duration_ns, std::size_t interval) {
  if (sums_.size() <= interval) sums_.resize(interval + 1);
  const auto duration = static_cast<double>(duration_ns);
  sums_[interval].open += load_.open * duration;
  sums_[interval].bytes += load_.bytes * duration;
}

void LoadHistory::halve() {
  interval_ns_ *= 2;
  std::vector<Load> halved((sums_.size() + 1) / 2);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    halved[i / 2].open += sums_[i].open;
    halved[i / 2].bytes += sums_[i].bytes;
  }
  sums_ = std::move(halved);
}

LoadHistory::Means LoadHistory::means() const {
  Means means{interval_ns_, sums_};
  for (std::size_t i = 0; i < means.of.size(); ++i) {
    const std::int64_t begins = began_ns_ + static_cast<std::int64_t>(i) * interval_ns_;
    const auto duration = static_cast<double>(std::min(interval_ns_, last_ns_ - begins));
    means.of[i].open /= duration;
    means.of[i].bytes /= duration;
  }
  return means;
}

}  // namespace resprout::runtime
