// The order of members that a file gives: who shall have which identifier, that is, which place in
// the tree (Scalable Membership, sections 3.1 and 3.2: the tree can follow the network).
//
// One member a line; `#` begins a comment, and empty lines count for nothing:
//
//   HOST             whoever listens on this host
//   HOST:PORT        whoever listens there
//   HOST[:PORT] GROUP  and stands together with the others of this group: a rack, a switch
//
// HOST is a numeric address ([...] around one with colons and a port), or the name that the host
// has for itself, whole or up to a dot. Names are compared and never looked up.
//
// Without groups the n-th member, from 0, has identifier n, and so the children a*n + 1 to a*n + a.
// With groups the first of each gets the lowest place that is free, each further one the lowest
// that is free below a member of its group; so N groups that stand one after the other are joined
// by N - 1 edges. Lines that are added at the end change no place of those before.
//
// Thread rule: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/member/wire.hpp"
#include "topology/radix_tree.hpp"

namespace resprout::runtime::member {

class Order {
 public:
  // Throws std::invalid_argument, which begins with the number of the line ("3: 'a:b:c' is not HOST
  // ..."): a line is malformed or stands there twice, there are more than Ids::capacity. Without a
  // number: there are none.
  static Order parse(const std::string& text);

  // The place of each member in the file. All are different.
  std::vector<std::int32_t> places(topology::RadixTree tree) const;
  // Which member in the file listens at `address`, on a host that calls itself `host_name`: the
  // first line that says so, of those with a port before those without. Nothing: none.
  std::optional<std::size_t> find(const Address& address, const std::string& host_name) const;

 private:
  struct Line {
    std::string host;        // canonical
    std::uint16_t port = 0;  // 0: any
    std::string group;
    int number = 0;  // in the file, from 1
  };

  static std::optional<Line> parse_line(const std::string& text);
  void add(Line line);

  std::vector<Line> lines_;
};

}  // namespace resprout::runtime::member
