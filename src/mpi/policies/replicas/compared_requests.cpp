#include "mpi/policies/replicas/compared_requests.hpp"

#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/policies/inject/flipped_given.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "mpi/process/calls_mutex.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using Entry = std::shared_ptr<ComparedRequest>;

struct Table {
  CallsMutex mutex;
  RequestTable<ComparedRequest> entries RESPROUT_GUARDED_BY(mutex);
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
  const runtime::MutexLock lock(table().mutex);
  return table().entries.find(request);
}

// Null: there is nothing to do for it. What carries no data is not compared; but where siblings
// stand in it is over when all have come to it.
Entry made(MPI_Comm comm, const char* call, const Describe& describe, std::uint64_t number = 0) {
  if (!are_requests_compared() || comm == MPI_COMM_NULL) return nullptr;
  Comparing* by = comparer();
  if (!describe && replica_substitution.load(std::memory_order_acquire) == nullptr) return nullptr;
  return std::make_shared<ComparedRequest>(by, comm, call, describe, number);
}

void erase(MPI_Request request) {
  Entry over;  // ends without the mutex
  const runtime::MutexLock lock(table().mutex);
  over = table().entries.extract(request);
}

}  // namespace

bool are_requests_compared() {
  return comparer() != nullptr || replica_substitution.load(std::memory_order_acquire) != nullptr ||
         may_flip_given();
}

ComparedRequest::ComparedRequest(Comparing* by, MPI_Comm comm, const char* call,
                                 const Describe& describe, std::uint64_t number)
    : comm_(comm), call_(call) {
  if (describe && may_flip_given()) to_flip_ = sides_to_flip(comm);
  if (to_flip_) describe_with(describe, &*to_flip_);
  if (by != nullptr && describe) {
    comparison_.emplace(*by, comm, call);
    describe_with(describe, comparison_->call_data());
  }
  if (ReplicaSubstitution* substitution = replica_substitution.load()) {
    substituted_ = std::make_shared<SubstitutedCollective>(*substitution, comm, call, number);
    describe_with(describe ? describe : Describe(call_data_of::barrier()),
                  substituted_->call_data());
  }
}

void ComparedRequest::describe_with(const Describe& describe, CallData* call_data) {
  if (call_data == nullptr) return;
  describe(*call_data);
  keep_datatypes(call_data->given());
  keep_datatypes(call_data->got());
}

void ComparedRequest::keep_datatypes(std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) {
    const MPI_Datatype of_program = piece.layout.datatype;
    KeptDatatype& kept = datatypes_[of_program];
    if (kept.handle() == MPI_DATATYPE_NULL) kept = KeptDatatype(of_program);
    piece.layout.datatype = kept.handle();
  }
}

void ComparedRequest::start() {
  if (to_flip_) flip_given(*to_flip_, comm_, call_);
  if (comparison_) comparison_->start();
  if (substituted_) substituted_->begin();
  is_started_ = true;
}

void ComparedRequest::end() {
  is_started_ = false;
  Comparison* comparison = comparison_ ? &*comparison_ : nullptr;
  if (substituted_)
    substituted_->end(comparison);
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
  Entry before;  // ends without the mutex
  const runtime::MutexLock lock(table().mutex);
  before = table().entries.put(request, std::exchange(entry_, nullptr));
}

void remember_compared(MPI_Request request, MPI_Comm comm, const char* call,
                       const Describe& describe) {
  if (!are_requests_compared()) return;
  const Entry entry = made(comm, call, describe, communicator_of(comm)->made.persistent);
  if (!entry) return;
  Entry before;
  const runtime::MutexLock lock(table().mutex);
  before = table().entries.put(request, entry);
}

void start_compared(MPI_Request request) {
  if (!are_requests_compared()) return;
  if (const Entry entry = find(request)) entry->start();
}

std::shared_ptr<SubstitutedCollective> substituted_collective(MPI_Request request) {
  if (!are_requests_compared()) return nullptr;
  const Entry entry = find(request);
  return entry ? entry->substituted() : nullptr;
}

RequestClaim<ComparedRequest> claim_compared(MPI_Request request) {
  if (!are_requests_compared()) return {};
  const runtime::MutexLock lock(table().mutex);
  return table().entries.claim(request);
}

void give_back_compared(const RequestClaim<ComparedRequest>& claim, MPI_Request after) {
  if (!claim) return;
  const runtime::MutexLock lock(table().mutex);
  table().entries.settle(claim, after);
}

void complete_compared(const RequestClaim<ComparedRequest>& claim, MPI_Request after) {
  if (!claim) return;
  give_back_compared(claim, claim.entry->is_started() ? after : claim.request);
  if (claim.entry->is_started()) claim.entry->end();
}

void forget_compared(MPI_Request request) {
  if (are_requests_compared()) erase(request);
}

bool is_any_compared_under_way() {
  const runtime::MutexLock lock(table().mutex);
  return table().entries.has_any([](const ComparedRequest& entry) { return entry.is_started(); });
}

}  // namespace resprout::shim
