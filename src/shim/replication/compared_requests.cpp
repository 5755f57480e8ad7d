#include "shim/replication/compared_requests.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "shim/calls_mutex.hpp"
#include "shim/communicator.hpp"

namespace resprout::shim {
namespace {

using Entry = std::shared_ptr<ComparedRequest>;

struct Table {
  CallsMutex mutex;
  std::unordered_map<MPI_Request, Entry> entries;
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

Comparing* comparer() { return comparing.load(std::memory_order_acquire); }

// Open MPI gives this one to all that has nothing to wait for, whatever it is: of collectives to
// those of a single process, and of nothing.
MPI_Request handle_of_the_complete() {
  static const MPI_Request handle = [] {
    MPI_Request made = MPI_REQUEST_NULL;
    PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &made);
    const MPI_Request given = made;
    PMPI_Wait(&made, MPI_STATUS_IGNORE);
    return given;
  }();
  return handle;
}

Entry find(MPI_Request request) {
  const std::scoped_lock lock(table().mutex);
  const auto found = table().entries.find(request);
  return found != table().entries.end() ? found->second : nullptr;
}

bool is_used() {
  return comparer() != nullptr || masking.load(std::memory_order_acquire) != nullptr ||
         may_flip_given();
}

// Null: there is nothing to do for it. What carries no data is not compared; but where siblings
// stand in it is over when all have come to it.
Entry made(MPI_Comm comm, const char* call, const Describe& describe, std::uint64_t number = 0) {
  if (!is_used() || comm == MPI_COMM_NULL) return nullptr;
  Comparing* by = comparer();
  if (!describe && masking.load(std::memory_order_acquire) == nullptr) return nullptr;
  return std::make_shared<ComparedRequest>(by, comm, call, describe, number);
}

void erase(MPI_Request request) {
  const std::scoped_lock lock(table().mutex);
  table().entries.erase(request);
}

}  // namespace

ComparedRequest::ComparedRequest(Comparing* by, MPI_Comm comm, const char* call,
                                 const Describe& describe, std::uint64_t number)
    : comm_(comm), call_(call) {
  if (describe && may_flip_given()) to_flip_ = sides_to_flip(comm);
  if (to_flip_) describe_with(describe, &*to_flip_);
  if (by != nullptr && describe) {
    comparison_.emplace(*by, comm, call);
    describe_with(describe, comparison_->sides());
  }
  if (Masking* masks = masking.load()) {
    masked_ = std::make_shared<MaskedCollective>(*masks, comm, call, number);
    describe_with(describe ? describe : Describe(sides_of::barrier()), masked_->sides());
  }
}

void ComparedRequest::describe_with(const Describe& describe, Sides* sides) {
  if (sides == nullptr) return;
  describe(*sides);
  keep_datatypes(sides->given());
  keep_datatypes(sides->got());
}

ComparedRequest::~ComparedRequest() {
  for (MPI_Datatype& datatype : datatypes_) PMPI_Type_free(&datatype);
}

// Bytes without gaps are looked at without their datatype.
void ComparedRequest::keep_datatypes(std::vector<Piece>& pieces) {
  std::map<MPI_Datatype, MPI_Datatype> kept;
  for (Piece& piece : pieces) {
    if (piece.layout.is_dense) continue;
    MPI_Datatype& own = kept.try_emplace(piece.layout.datatype, MPI_DATATYPE_NULL).first->second;
    if (own == MPI_DATATYPE_NULL) {
      PMPI_Type_dup(piece.layout.datatype, &own);
      datatypes_.push_back(own);
    }
    piece.layout.datatype = own;
  }
}

void ComparedRequest::start() {
  if (to_flip_) flip_given(*to_flip_, comm_, call_);
  if (comparison_) comparison_->start();
  if (masked_) masked_->begin();
  is_started_ = true;
}

void ComparedRequest::end() {
  is_started_ = false;
  Comparison* comparison = comparison_ ? &*comparison_ : nullptr;
  if (masked_)
    masked_->end(comparison);
  else if (comparison != nullptr)
    comparison->end();
}

ComparedStart::ComparedStart(MPI_Comm comm, const char* call, const Describe& describe)
    : entry_(made(comm, call, describe)) {
  if (entry_) entry_->start();
}

ComparedStart::~ComparedStart() {
  if (entry_) entry_->end();
}

// What is over already ends here: its handle is no name.
void ComparedStart::go_on_as(MPI_Request request) {
  if (!entry_ || request == handle_of_the_complete()) return;
  const std::scoped_lock lock(table().mutex);
  table().entries[request] = std::exchange(entry_, nullptr);
}

void remember_compared(MPI_Request request, MPI_Comm comm, const char* call,
                       const Describe& describe) {
  if (!is_used()) return;
  const Entry entry = made(comm, call, describe, communicator_of(comm)->persistent_made);
  if (!entry) return;
  const std::scoped_lock lock(table().mutex);
  table().entries[request] = entry;
}

void start_compared(MPI_Request request) {
  if (!is_used()) return;
  if (const Entry entry = find(request)) entry->start();
}

std::shared_ptr<MaskedCollective> masked_collective(MPI_Request request) {
  if (!is_used()) return nullptr;
  const Entry entry = find(request);
  return entry ? entry->masked() : nullptr;
}

void complete_compared(MPI_Request before, MPI_Request after) {
  if (!is_used()) return;
  const Entry entry = find(before);
  if (!entry || !entry->is_started()) return;
  if (after == MPI_REQUEST_NULL) erase(before);
  entry->end();
}

void forget_compared(MPI_Request request) {
  if (is_used()) erase(request);
}

bool is_any_compared_under_way() {
  const std::scoped_lock lock(table().mutex);
  return std::any_of(table().entries.begin(), table().entries.end(),
                     [](const auto& pair) { return pair.second->is_started(); });
}

}  // namespace resprout::shim
