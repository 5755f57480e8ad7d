// See acknowledged_tree.hpp. All code is inline there; naming it here puts it into an object file,
// so that its purity can be checked.
#include "protocols/acknowledged_tree/acknowledged_tree.hpp"

#include <tuple>

namespace resprout::protocols {

[[gnu::used]] static constexpr std::tuple acknowledged_tree_functions{
    &AcknowledgedTree::start,          &AcknowledgedTree::handle_message,
    &AcknowledgedTree::handle_timeout, &AcknowledgedTree::poll_event,
    &AcknowledgedTree::poll_send,      &AcknowledgedTree::poll_timeout,
};

}  // namespace resprout::protocols
