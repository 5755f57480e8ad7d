// The machine in the sizes that are used, made of its parts.
#include "protocols/local_membership/agreeing.hpp"
#include "protocols/local_membership/joining.hpp"
#include "protocols/local_membership/local_membership.hpp"
#include "protocols/local_membership/neighborhood.hpp"
#include "protocols/local_membership/sending.hpp"

namespace resprout::protocols {

template class LocalMembership<8>;
template class LocalMembership<32>;
template class LocalMembership<64>;

}  // namespace resprout::protocols
