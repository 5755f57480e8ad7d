// The order of members, or of hosts, that a file gives: from it follows which place in the tree
// they have (Scalable Membership, sections 3.1 and 3.2: the tree can follow the network).
//
// One a line; `#` begins a comment, and empty lines count for nothing:
//
//   HOST             all that listen on this host
//   HOST:PORT        the one that listens there
//   HOST[:PORT] GROUP  and stands together with the others of this group: a rack, a switch
//
// HOST is a numeric address ([...] around one with colons and a port), or the name that the host
// has for itself, whole or up to a dot. Names are compared and never looked up.
//
// Thread rule: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace resprout::runtime {

class Order {
 public:
  struct Line {
    std::string host;        // canonical
    std::uint16_t port = 0;  // 0: any
    std::string group;       // empty: it stands alone
    int number = 0;          // in the file, from 1
  };

  // Whether a line may have a port.
  enum class Of : std::uint8_t { members, hosts };

  // Throws std::invalid_argument, which begins with the number of the line ("3: 'a:b:c' is not HOST
  // ..."): a line is malformed or stands there twice, there are more of them than places in a tree.
  // Without a number: there are none.
  static Order parse(const std::string& text, Of of = Of::members);
  // The order of hosts that `text()` of another one is.
  static Order from_text(std::string text);

  std::span<const Line> lines() const { return lines_; }
  // Of hosts: their lines with ; in between, and numbers for groups.
  std::string text() const;
  // Which line is about who listens at this numeric address and port, on a host that calls itself
  // `host_name`: the first that is, of those with a port before those without. Nothing: none.
  std::optional<std::size_t> find(const std::string& address, std::uint16_t port,
                                  const std::string& host_name) const;

 private:
  static std::optional<Line> parse_line(const std::string& text, Of of);
  void add(Line line);

  std::vector<Line> lines_;
};

}  // namespace resprout::runtime
