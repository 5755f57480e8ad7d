// See corrected_gossip.hpp. All code is inline there; naming it here puts it into an object file,
// so that its purity can be checked.
#include "protocols/corrected_gossip/corrected_gossip.hpp"

#include <tuple>

namespace resprout::protocols {

[[gnu::used]] static constexpr std::tuple corrected_gossip_functions{
    &CorrectedGossip::start,          &CorrectedGossip::handle_message,
    &CorrectedGossip::handle_timeout, &CorrectedGossip::poll_event,
    &CorrectedGossip::poll_send,      &CorrectedGossip::poll_timeout,
    &CorrectedGossip::handle_supply,  &CorrectedGossip::may_be_missed,
    &CorrectedGossip::handle_offer,   &CorrectedGossip::freeze,
};

}  // namespace resprout::protocols
