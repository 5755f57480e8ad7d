// Sessions that were revoked: docs/explanation/protocols/revoke.md.
//
// A member that knows says nothing more in this session, and believes no frame of it: what runs
// here has failed. So nobody who does not know yet can get a result that was made without the
// others.
#include "runtime/session.hpp"

namespace resprout::runtime {

void Session::revoke() {
  const bool is_news = revocation_.begin();
  flush_revocation();
  if (is_news) fall_silent();
}

void Session::cut_off() {
  if (revocation_.begin()) fall_silent();
}

void Session::handle_notice(int peer, const Message& notice) {
  if (!revocation_.handle_notice(peer, notice)) return;
  fall_silent();
  progress_.agenda().flush_later(*this, revocation_number);  // when all that has arrived is read
}

void Session::handle_notice_of_host() {
  if (!revocation_.handle_notice_of_host()) return;
  fall_silent();
  flush_revocation();
}

void Session::bind(Session& other) {
  bound_.push_back(&other);
  if (is_revoked()) other.follow_revocation();
}

// Perhaps from a transport that delivers, so that nothing can be sent yet.
void Session::follow_revocation() {
  if (!revocation_.begin()) return;
  fall_silent();
  progress_.agenda().flush_later(*this, revocation_number);
}

// What its members got no longer matters to any of them, so nothing is made of what is called now.
Outcome Session::give_up() {
  contributors_.clear();
  return {};
}

void Session::flush_revocation() {
  if (!revocation_.flush()) progress_.agenda().flush_later(*this, revocation_number);
}

void Session::fall_silent() {
  log_.abandon();
  progress_.tell_of_revocation(*this);
  for (Session* other : bound_) other->follow_revocation();
  if (is_closed_) progress_.bid_farewell(*this);
}

}  // namespace resprout::runtime
