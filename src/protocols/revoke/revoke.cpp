// See revoke.hpp.
#include "protocols/revoke/revoke.hpp"

#include "topology/ring.hpp"

namespace resprout::protocols {

void Revoke::revoke(const Context&) { become_revoked(rank_at(self_)); }

Disposition Revoke::handle_message(const Context&, const Message& message) {
  if (message.kind == MessageKind::revocation) become_revoked(message.from);
  return Disposition::done;
}

void Revoke::become_revoked(Rank by) {
  if (is_revoked_ != 0) return;
  is_revoked_ = 1;
  by_ = by;
}

std::optional<Event> Revoke::poll_event(const Context&) {
  if (is_revoked_ == is_said_) return std::nullopt;
  is_said_ = 1;
  return Event{EventKind::revoked,
               {.from = by_, .to = rank_at(self_), .kind = MessageKind::revocation}};
}

std::optional<Message> Revoke::poll_send(const Context& context) {
  if (is_revoked_ == 0) return std::nullopt;
  // Passing over suspects is no step of its own: with nobody to tell, nothing changes.
  Revoke after = *this;
  const std::int32_t target = after.next_target(context.suspects);
  if (target < 0) return std::nullopt;
  *this = after;
  return Message{.from = rank_at(self_), .to = rank_at(target), .kind = MessageKind::revocation};
}

std::int32_t Revoke::next_target(const Suspects& suspects) {
  while (links_done_ < graph_.link_numbers()) {
    const std::int32_t target = graph_.link(self_, links_done_++);
    if (target >= 0 && !suspects.contains(rank_at(target))) return target;
  }
  const std::int32_t to_the_right = next_on_ring(suspects, right_, 1);
  return to_the_right >= 0 ? to_the_right : next_on_ring(suspects, left_, -1);
}

// A neighbor that is not suspected now has never been: it was told with the links.
std::int32_t Revoke::next_on_ring(const Suspects& suspects, std::int32_t& covered,
                                  std::int32_t side) {
  const auto at_distance = [&](std::int32_t distance) {
    return topology::ring_neighbor(self_, side * distance, graph_.procs);
  };
  while (!is_ring_covered() && suspects.contains(rank_at(at_distance(covered)))) {
    const std::int32_t target = at_distance(++covered);
    if (!suspects.contains(rank_at(target)) && !graph_.are_linked(self_, target)) return target;
  }
  return -1;
}

}  // namespace resprout::protocols
