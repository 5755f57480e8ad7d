#include "runtime/lifeline/news.hpp"

#include <cstring>

namespace resprout::runtime {

std::optional<std::size_t> read_news(std::span<const std::uint8_t> bytes, std::vector<Said>& said) {
  std::size_t used = 0;
  while (used + sizeof(News) <= bytes.size()) {
    News news;
    std::memcpy(&news, bytes.data() + used, sizeof news);
    if (news.length > (news.kind == NewsKind::message ? message_bytes_max : 0)) return std::nullopt;
    const auto rest = bytes.subspan(used + sizeof news);
    if (rest.size() < news.length) break;
    said.push_back({news, {rest.begin(), rest.begin() + news.length}});
    used += sizeof news + news.length;
  }
  return used;
}

}  // namespace resprout::runtime
