// Where those are who may be members with local views: the n-th line of a file is identifier n.
//
// A line is HOST:PORT with a numeric host; `#` begins a comment, and empty lines count for nothing.
// The file is the same for all members and does not change. It is read again whenever somebody is
// spoken to for the first time, and nothing of it is kept: a member's memory does not depend on how
// long it is.
//
// Thread rule: values; reads the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/member/wire.hpp"

namespace resprout::runtime::member {

class Addresses {
 public:
  // Throws std::invalid_argument, which begins with the file and, if one is wrong, the number of
  // the line.
  explicit Addresses(std::string path);

  std::int32_t count() const { return count_; }
  // Nothing: nobody has this identifier.
  std::optional<Address> of(std::int32_t id) const;
  std::optional<std::int32_t> find(const Address& address) const;

 private:
  std::string path_;
  std::int32_t count_ = 0;
};

}  // namespace resprout::runtime::member
