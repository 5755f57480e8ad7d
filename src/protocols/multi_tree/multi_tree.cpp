// See multi_tree.hpp. All code is inline there; naming it here puts it into an object file, so that
// its purity can be checked.
#include "protocols/multi_tree/multi_tree.hpp"

#include <tuple>

namespace resprout::protocols {

[[gnu::used]] static constexpr std::tuple multi_tree_functions{
    &MultiTree::start,      &MultiTree::handle_message, &MultiTree::handle_timeout,
    &MultiTree::poll_event, &MultiTree::poll_send,      &MultiTree::poll_timeout,
};

}  // namespace resprout::protocols
