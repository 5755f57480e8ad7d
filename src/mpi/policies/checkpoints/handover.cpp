#include "mpi/policies/checkpoints/handover.hpp"

#include <cstring>

namespace resprout::shim {
namespace {

void append(std::vector<std::byte>& to, std::uint64_t number) {
  const std::size_t end = to.size();
  to.resize(end + sizeof number);
  std::memcpy(to.data() + end, &number, sizeof number);
}

// Takes numbers off the front. After the end they are 0.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t next() {
    std::uint64_t number = 0;
    if (rest_.size() < sizeof number) {
      rest_ = {};
      return 0;
    }
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_ = rest_.subspan(sizeof number);
    return number;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

std::vector<std::byte> hand_over(const Handover& given, const Regions& regions) {
  std::vector<std::byte> bytes;
  append(bytes, given.checkpoints);
  append(bytes, regions.digest());
  append(bytes, given.communicators.size());
  for (const auto& [name, children] : given.communicators) {
    append(bytes, name);
    append(bytes, children);
  }
  regions.append_to(bytes);
  return bytes;
}

std::optional<Handover> take_over(std::span<const std::byte> given, Regions& regions) {
  Reader reader(given);
  Handover taken{.checkpoints = reader.next(), .communicators = {}};
  const std::uint64_t digest = reader.next();
  for (std::uint64_t left = reader.next(); left > 0 && !reader.rest().empty(); --left) {
    const std::uint64_t name = reader.next();
    taken.communicators[name] = reader.next();
  }
  if (reader.rest().size() != regions.bytes()) return std::nullopt;
  regions.fill(reader.rest());
  return regions.digest() == digest ? std::optional(taken) : std::nullopt;
}

}  // namespace resprout::shim
