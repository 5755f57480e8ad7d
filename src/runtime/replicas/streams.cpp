#include "runtime/replicas/streams.hpp"

#include <algorithm>

#include "core/invariant.hpp"
#include "core/random.hpp"

namespace resprout::runtime {
namespace {

// Whether some message could be for both.
bool overlap(const Stream& a, const Stream& b) {
  const auto meet = [](std::int32_t x, std::int32_t y) {
    return x == y || x == ReceivedStreams::any || y == ReceivedStreams::any;
  };
  return a.communicator == b.communicator && meet(a.sender, b.sender) && meet(a.tag, b.tag);
}

}  // namespace

std::size_t StreamHash::operator()(const Stream& stream) const {
  const auto both = [](auto high, auto low) {
    return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
  };
  std::uint64_t state = stream.communicator;
  state = splitmix64(state) ^ both(stream.sender, stream.receiver);
  state = splitmix64(state) ^ both(stream.tag, stream.of);
  return static_cast<std::size_t>(splitmix64(state));
}

std::uint64_t total_of(const StreamCounts& counts) {
  std::uint64_t total = 0;
  for (const auto& [stream, count] : counts) total += count;
  return total;
}

ReceivedStreams::Ticket ReceivedStreams::post(const Stream& stream) {
  ++last_;
  if (undecided_.empty() && !is_wild(stream)) {
    name(last_, stream);
  } else {
    undecided_.push_back({last_, stream});
    name_those_that_are_decided();
  }
  return last_;
}

void ReceivedStreams::resolve(Ticket ticket, std::int32_t sender, std::int32_t tag) {
  const auto posted = std::find_if(undecided_.begin(), undecided_.end(),
                                   [&](const Posted& it) { return it.ticket == ticket; });
  RESPROUT_INVARIANT(posted != undecided_.end() && is_wild(posted->stream));
  posted->stream.sender = sender;
  posted->stream.tag = tag;
  name_those_that_are_decided();
}

void ReceivedStreams::withdraw(Ticket ticket) {
  std::erase_if(undecided_, [&](const Posted& it) { return it.ticket == ticket; });
  name_those_that_are_decided();
}

std::optional<MessageName> ReceivedStreams::take(Ticket ticket) {
  const auto found = decided_.find(ticket);
  if (found == decided_.end()) return std::nullopt;
  const MessageName name = found->second;
  decided_.erase(found);
  return name;
}

std::optional<MessageName> ReceivedStreams::name_of(Ticket ticket) const {
  const auto found = decided_.find(ticket);
  return found == decided_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t ReceivedStreams::named(const Stream& stream) const {
  const auto found = received_.find(stream);
  return found == received_.end() ? 0 : found->second;
}

std::optional<std::int32_t> ReceivedStreams::sender_of(Ticket ticket) const {
  const auto posted = std::find_if(undecided_.begin(), undecided_.end(),
                                   [&](const Posted& it) { return it.ticket == ticket; });
  return posted == undecided_.end() ? std::nullopt : std::optional(posted->stream.sender);
}

std::optional<ReceivedStreams::AnyTag> ReceivedStreams::first_of_any_tag(std::int32_t sender,
                                                                         Ticket behind) const {
  const auto found = std::find_if(undecided_.begin(), undecided_.end(), [&](const Posted& it) {
    return it.ticket > behind && it.stream.sender == sender && it.stream.tag == any &&
           !is_behind_another(it);
  });
  return found == undecided_.end() ? std::nullopt
                                   : std::optional(AnyTag{found->ticket, found->stream});
}

bool ReceivedStreams::has_to_wait(const Posted& posted) const {
  return is_wild(posted.stream) || is_behind_another(posted);
}

bool ReceivedStreams::is_behind_another(const Posted& posted) const {
  return std::any_of(undecided_.begin(), undecided_.end(), [&](const Posted& other) {
    return other.ticket < posted.ticket && overlap(other.stream, posted.stream);
  });
}

void ReceivedStreams::name(Ticket ticket, const Stream& stream) {
  decided_[ticket] = {stream, ++received_[stream]};
}

void ReceivedStreams::name_those_that_are_decided() {
  for (auto posted = undecided_.begin(); posted != undecided_.end();) {
    if (has_to_wait(*posted)) {
      ++posted;
      continue;
    }
    name(posted->ticket, posted->stream);
    posted = undecided_.erase(posted);
  }
}

}  // namespace resprout::runtime
