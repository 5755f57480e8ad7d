// Cards dealt in turns: how the descendants of a node spread over its children's subtrees.
//
// In an interleaved tree of a fixed arity neighbors on the ring of a subtree go to different
// children in turns (Corrected Trees, section 3.2.1), so that sizes of subtrees need no walk.
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace resprout::topology {

// `cards` cards to `hands` hands, one each in turns. The first `longer` hands get one more.
struct Deal {
  // REQUIRES: cards >= 0, hands >= 1.
  constexpr Deal(std::int64_t cards, std::int64_t hands)
      : share(cards / hands), longer(cards % hands) {}

  // How many the hands before `hand` have together.
  constexpr std::int64_t before(std::int64_t hand) const {
    return hand * share + std::min(hand, longer);
  }

  // Whose the card is, if hands are laid down one behind the other. REQUIRES: 0 <= card < cards.
  constexpr std::int64_t hand_of(std::int64_t card) const {
    const std::int64_t in_longer = longer * (share + 1);
    return card < in_longer ? card / (share + 1) : longer + (card - in_longer) / share;
  }

  std::int64_t share;
  std::int64_t longer;
};

}  // namespace resprout::topology
