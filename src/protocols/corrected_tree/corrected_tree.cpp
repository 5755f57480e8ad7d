// See corrected_tree.hpp. All code is inline there; naming it here puts it into an object file, so
// that its purity can be checked.
#include "protocols/corrected_tree/corrected_tree.hpp"

namespace resprout::protocols {

template class CorrectedTreeOf<AnyCorrection>;

}  // namespace resprout::protocols
