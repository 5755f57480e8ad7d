// See prefix_chain.hpp.
#include "protocols/prefix_chain/prefix_chain.hpp"

#include "core/invariant.hpp"

namespace resprout::protocols {

PrefixChain::PrefixChain(const PrefixChainConfig& config, Rank self)
    : config_(&config), self_(index(self)) {
  RESPROUT_INVARIANT(self_ >= 0 && self_ < config.procs);
  if (config.is_summed) begin_summed();
}

// The nearest one in that direction that is not suspected, or no_rank.
Rank PrefixChain::nearest(const Context& context, std::int32_t direction) const {
  std::int32_t at = self_ + direction;
  while (at >= 0 && at < config_->procs && context.suspects.contains(rank_at(at))) at += direction;
  return at >= 0 && at < config_->procs ? rank_at(at) : no_rank;
}

Message PrefixChain::own(MessageKind kind, Rank from, Rank to) const {
  return {.from = from, .to = to, .kind = kind, .slot = Slot::accumulator};
}

Disposition PrefixChain::handle_message(const Context&, const Message& message) {
  const bool is_wanted = message.kind == MessageKind::contribution && step_ == Step::waiting &&
                         index(message.from) < self_;
  return is_wanted ? Disposition::keep : Disposition::done;
}

Event PrefixChain::take_from(const Message& below) {
  step_ = Step::excluding;
  cursor_ = index(below.from) + 1;
  return {EventKind::combine, below};
}

std::optional<Event> PrefixChain::poll_event(const Context& context) {
  if (step_ == Step::waiting) {
    const Rank lowest = nearest(context, -1);
    for (std::int32_t at = self_ - 1; at >= 0 && at >= index(lowest); --at)
      if (const Message* kept = context.mailbox.find(MessageKind::contribution, 0, rank_at(at)))
        return take_from(*kept);
    if (lowest != no_rank) return std::nullopt;
    step_ = Step::excluding;
  }
  const Rank self = rank_at(self_);
  if (step_ == Step::excluding && cursor_ < self_) {
    Message excluded = own(MessageKind::contribution, rank_at(cursor_++), self);
    excluded.slot = Slot::none;
    return Event{EventKind::exclude, excluded};
  }
  if (step_ == Step::passing) return std::nullopt;
  step_ = Step::passing;
  return Event{EventKind::deliver, own(MessageKind::result, self, self)};
}

std::optional<Message> PrefixChain::poll_send(const Context& context) {
  if (step_ != Step::passing) return std::nullopt;
  const Rank above = nearest(context, +1);
  if (above == told_ || above == no_rank) return std::nullopt;
  told_ = above;
  return own(MessageKind::contribution, rank_at(self_), above);
}

Rank PrefixChain::next_due(const Context& context, std::int32_t& place) const {
  if (step_ != Step::waiting || place > 0) return no_rank;
  place = 1;
  return nearest(context, -1);
}

}  // namespace resprout::protocols
