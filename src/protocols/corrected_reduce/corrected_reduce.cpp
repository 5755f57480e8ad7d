// See corrected_reduce.hpp. All code is inline there; naming it here puts it into an object file,
// so that its purity can be checked.
#include "protocols/corrected_reduce/corrected_reduce.hpp"

#include <tuple>

namespace resprout::protocols {

[[gnu::used]] static constexpr std::tuple corrected_reduce_functions{
    &CorrectedReduce::start,          &CorrectedReduce::handle_message,
    &CorrectedReduce::handle_timeout, &CorrectedReduce::poll_event,
    &CorrectedReduce::poll_send,      &CorrectedReduce::poll_timeout,
};

}  // namespace resprout::protocols
