// Groups of an XOR code, and that each member follows from the others.
#include "runtime/checkpoints/xor_code.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Ranks = std::vector<int>;
using Bytes = std::vector<std::uint8_t>;

// So many ranks on each host, one host after the other.
Ranks on_hosts(const Ranks& counts) {
  Ranks hosts;
  for (std::size_t host = 0; host < counts.size(); ++host)
    hosts.insert(hosts.end(), static_cast<std::size_t>(counts[host]), static_cast<int>(host));
  return hosts;
}

TEST_CASE("members of a group are on different hosts where there are enough") {
  CHECK(code_groups(on_hosts({2, 2, 2}), 3) == std::vector<Ranks>{{0, 2, 4}, {1, 3, 5}});
  CHECK(code_groups(Ranks{5, 3, 5, 3}, 2) == std::vector<Ranks>{{0, 1}, {2, 3}});
  for (const Ranks& counts : {Ranks{4, 4, 4, 4}, Ranks{1, 2, 3, 2}, Ranks{3, 3, 1, 1, 1}}) {
    const Ranks hosts = on_hosts(counts);
    const auto groups = code_groups(hosts, 3);
    REQUIRE(*std::max_element(counts.begin(), counts.end()) <= static_cast<int>(groups.size()));
    for (const Ranks& group : groups) {
      std::set<int> seen;
      for (const int rank : group) CHECK(seen.insert(hosts[static_cast<std::size_t>(rank)]).second);
    }
  }
}

TEST_CASE("every rank is in one group, and no group has one member or too many") {
  for (int size = 2; size <= code_members_max; ++size)
    for (int ranks = 2; ranks <= 40; ++ranks) {
      CAPTURE(size);
      CAPTURE(ranks);
      Ranks all;
      for (const Ranks& group : code_groups(Ranks(static_cast<std::size_t>(ranks), 0), size)) {
        CHECK(group.size() >= 2);
        CHECK(static_cast<int>(group.size()) <= std::max(size, 3));
        all.insert(all.end(), group.begin(), group.end());
      }
      std::sort(all.begin(), all.end());
      REQUIRE(static_cast<int>(all.size()) == ranks);
      for (int rank = 0; rank < ranks; ++rank) CHECK(all[static_cast<std::size_t>(rank)] == rank);
    }
}

TEST_CASE("one rank alone is in no group") { CHECK(code_groups(Ranks{7}, 4).empty()); }

TEST_CASE("each chunk of a member is kept by one of the others") {
  for (int members = 2; members <= code_members_max; ++members)
    for (int member = 0; member < members; ++member) {
      std::set<int> kept;
      for (int keeper = 0; keeper < members; ++keeper)
        if (keeper != member) kept.insert(chunk_kept_by(keeper, member));
      CHECK(static_cast<int>(kept.size()) == members - 1);
      CHECK(*kept.begin() == 0);
      CHECK(*kept.rbegin() == members - 2);
    }
}

// Of a chunk of each, read in pieces.
void add_chunk(Bytes& into, const Bytes& member, int chunk, std::size_t length) {
  constexpr std::size_t piece = 5;
  for (std::size_t at = 0; at < length; at += piece) {
    const ByteRange range =
        bytes_in_chunk(chunk, length, {at, std::min(piece, length - at)}, member.size());
    for (std::size_t i = 0; i < range.bytes; ++i) into[at + i] ^= member[range.offset + i];
  }
}

TEST_CASE("what one member had follows from the others, whatever lengths they have") {
  for (const auto& lengths :
       {Ranks{64, 64, 64}, Ranks{1, 40, 17}, Ranks{30, 8}, Ranks{9, 0, 77, 5}}) {
    std::vector<Bytes> members;
    for (const int length : lengths) {
      Bytes& member = members.emplace_back();
      for (int i = 0; i < length; ++i) member.push_back(static_cast<std::uint8_t>(i * 37 + length));
    }
    const int count = static_cast<int>(lengths.size());
    const auto longest =
        static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
    const std::size_t length = chunk_bytes(longest, lengths.size());
    CHECK(length % 8 == 0);
    CHECK(length * (lengths.size() - 1) >= longest);
    std::map<int, Bytes> kept;
    for (int keeper = 0; keeper < count; ++keeper) {
      kept[keeper].resize(length);
      for (int member = 0; member < count; ++member)
        if (member != keeper)
          add_chunk(kept[keeper], members[static_cast<std::size_t>(member)],
                    chunk_kept_by(keeper, member), length);
    }
    for (int lost = 0; lost < count; ++lost) {
      Bytes rebuilt;
      for (int chunk = 0; chunk < count - 1; ++chunk) {
        const int keeper = chunk < lost ? chunk : chunk + 1;
        Bytes sum = kept[keeper];
        for (int member = 0; member < count; ++member)
          if (member != keeper && member != lost)
            add_chunk(sum, members[static_cast<std::size_t>(member)], chunk_kept_by(keeper, member),
                      length);
        rebuilt.insert(rebuilt.end(), sum.begin(), sum.end());
      }
      rebuilt.resize(members[static_cast<std::size_t>(lost)].size());
      CHECK(rebuilt == members[static_cast<std::size_t>(lost)]);
    }
  }
}

}  // namespace
}  // namespace resprout::runtime
