// See corrected_tree.hpp. All code is inline there; naming it here puts it into an object file, so
// that its purity can be checked.
#include "protocols/corrected_tree/corrected_tree.hpp"

#include <tuple>

namespace resprout::protocols {

[[gnu::used]] static constexpr std::tuple functions{
    &CorrectedTree::start,     &CorrectedTree::handle_message, &CorrectedTree::poll_event,
    &CorrectedTree::poll_send, &CorrectedTree::poll_timeout,   &CorrectedTree::is_colored,
    &CorrectedTree::freeze,
};

}  // namespace resprout::protocols
