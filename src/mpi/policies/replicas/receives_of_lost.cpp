// Receives where siblings stand in for the lost: what wildcards take, and what is recalled.
#include <algorithm>

#include "mpi/policies/replicas/gaps.hpp"
#include "mpi/policies/replicas/messages.hpp"
#include "mpi/policies/replicas/receives.hpp"
#include "mpi/policies/replicas/replica_substitution.hpp"

namespace resprout::shim {

// Where siblings stand in, what wildcards take: those that were started first have the first
// choice.
void Receives::find_out() {
  if (stood_in_for_ == nullptr) return;
  std::optional<Order::Pattern> in_vain;
  for (const EntryPtr& entry : open_) {
    const Order::Pattern asked = order_.pattern_of(entry->ticket);
    if (decides_ && !order_.is_decided(entry->ticket) && in_vain != asked && !maybe_find(*entry))
      in_vain = asked;
    tell_messages(*entry);
  }
}

void Receives::tell_messages(const Entry& entry) {
  const Order::Pattern& taken = order_.pattern_of(entry.ticket);
  if (!entry.call.message || !order_.is_decided(entry.ticket)) return;
  if (taken.source == Order::nobody) return stood_in_for_->decide(*entry.call.message, {});
  if (taken.source == Order::any || taken.tag == Order::any) return;
  stood_in_for_->decide(*entry.call.message, {taken.source, taken.tag});
}

bool Receives::is_of_lost(const Call& call, int source) const {
  if (stood_in_for_ == nullptr || !is_stood_in_for(call.comm, source)) return false;
  if (!call.message) end_for_unknown("a receive");
  return true;
}

void Receives::recall() {
  for (const EntryPtr& entry : open_) {
    if (!entry->is_recalled || entry->is_done) continue;
    const Call& call = entry->call;
    MPI_Status status{};
    if (!stood_in_for_->maybe_recover(*call.message,
                                      {"recv", call.buffer, call.count, call.datatype}, status))
      continue;
    status.MPI_SOURCE = order_.pattern_of(entry->ticket).source;
    note_received(*entry, status, MPI_SUCCESS);
  }
}

}  // namespace resprout::shim
