// What is kept of the program's requests, by their handles.
//
// As soon as MPI has completed a request another thread may be given its handle. So a call that
// completes requests claims what is kept of them before it asks MPI. What is claimed nobody else
// finds: who asks for the handle then has another request.
//
// Thread rule: one thread at a time; the owner guards it.
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <utility>

namespace resprout::shim {

// A request of a call that completes some, as it was before MPI was asked.
template <typename Entry>
struct RequestClaim {
  MPI_Request request = MPI_REQUEST_NULL;
  std::shared_ptr<Entry> entry;  // null: nothing is kept of it

  explicit operator bool() const { return entry != nullptr; }
};

template <typename Entry>
class RequestTable {
 public:
  using Pointer = std::shared_ptr<Entry>;
  using Claim = RequestClaim<Entry>;

  // What had its handle before is over, and given back.
  Pointer put(MPI_Request request, Pointer entry) {
    Slot& slot = slots_.try_emplace(request).first->second;
    return std::exchange(slot, Slot{std::move(entry), false}).entry;
  }
  // Null: nothing is kept of it.
  Pointer find(MPI_Request request) const {
    const auto found = slots_.find(request);
    return found != slots_.end() && !found->second.is_claimed ? found->second.entry : nullptr;
  }
  // In the call that has claimed it, too. REQUIRES: MPI does not free it in that call.
  Pointer find_lasting(MPI_Request request) const {
    const auto found = slots_.find(request);
    return found != slots_.end() ? found->second.entry : nullptr;
  }
  // Before MPI frees it. Null: nothing was kept of it.
  Pointer extract(MPI_Request request) {
    Pointer entry = find(request);
    if (entry) slots_.erase(request);
    return entry;
  }

  // A call is about to have MPI complete it.
  Claim claim(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return {};
    const auto found = slots_.find(request);
    if (found == slots_.end() || found->second.is_claimed) return {request, nullptr};
    found->second.is_claimed = true;
    return {request, found->second.entry};
  }
  // MPI's call is back, and the handle is `after` now. What has the handle meanwhile stays.
  void settle(const Claim& claim, MPI_Request after) {
    const auto found = slots_.find(claim.request);
    if (!claim || found == slots_.end() || found->second.entry != claim.entry) return;
    if (after == MPI_REQUEST_NULL)
      slots_.erase(found);
    else
      found->second.is_claimed = false;
  }

  bool is_empty() const { return slots_.empty(); }
  void clear() { slots_.clear(); }
  // visit(handle, entry) of those that no call has claimed.
  template <typename Visit>
  void for_each_unclaimed(Visit visit) const {
    for (const auto& [request, slot] : slots_)
      if (!slot.is_claimed) visit(request, slot.entry);
  }
  // Whether is_meant(entry) is true of any.
  template <typename IsMeant>
  bool has_any(IsMeant is_meant) const {
    for (const auto& [request, slot] : slots_)
      if (is_meant(*slot.entry)) return true;
    return false;
  }

 private:
  struct Slot {
    Pointer entry;
    bool is_claimed = false;
  };
  std::unordered_map<MPI_Request, Slot> slots_;
};

}  // namespace resprout::shim
