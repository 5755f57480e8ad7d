#include "mpi/handles/datatypes/type_facts.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

#include "mpi/handles/datatypes/type_order.hpp"
#include "mpi/handles/datatypes/type_size.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct KeptFacts {
  TypeFacts facts;
  std::atomic<bool> is_committed = false;
  std::atomic<bool> is_packed_again = false;
  std::once_flag packer_is_made;
  std::unique_ptr<const TypePacker> packer;
};

// Counts the datatypes that are gone: another one may have the handle of one of them.
std::atomic<unsigned> gone_count{0};

// What MPI keeps with a datatype. Of one that is copied, as those of receives are that a program
// starts, all is known.
using Shared = std::shared_ptr<KeptFacts>;

int share_facts(MPI_Datatype, int, void*, void* facts, void* copy, int* is_copied) {
  *static_cast<void**>(copy) = new Shared(*static_cast<Shared*>(facts));
  *is_copied = 1;
  return MPI_SUCCESS;
}

int forget_facts(MPI_Datatype, int, void* facts, void*) {
  gone_count.fetch_add(1, std::memory_order_release);
  delete static_cast<Shared*>(facts);
  return MPI_SUCCESS;
}

// MPI gives it back at the end.
int type_keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(share_facts, forget_facts, &made, nullptr);
    return made;
  }();
  return key;
}

KeptFacts* already_kept_of(MPI_Datatype datatype) {
  void* kept = nullptr;
  int is_set = 0;
  PMPI_Type_get_attr(datatype, type_keyval(), static_cast<void*>(&kept), &is_set);
  return is_set != 0 ? static_cast<Shared*>(kept)->get() : nullptr;
}

TypeFacts find_out(MPI_Datatype datatype) {
  TypeFacts facts;
  MPI_Aint lb = 0;
  facts.size = size_of_type(datatype);
  const auto size = static_cast<MPI_Aint>(facts.size);
  PMPI_Type_get_extent(datatype, &lb, &facts.extent);
  PMPI_Type_get_true_extent(datatype, &facts.true_lb, &facts.true_extent);
  facts.is_dense = lb == 0 && facts.true_lb == 0 && facts.extent == size &&
                   facts.true_extent == size && is_in_order(datatype);
  facts.padding = Padding::of(datatype);
  return facts;
}

KeptFacts& keep_from_now_on(MPI_Datatype datatype) {
  static runtime::Mutex mutex;
  const runtime::MutexLock lock(mutex);
  if (KeptFacts* kept = already_kept_of(datatype)) return *kept;
  auto facts = std::make_unique<Shared>(std::make_shared<KeptFacts>());
  (*facts)->facts = find_out(datatype);
  PMPI_Type_set_attr(datatype, type_keyval(), facts.get());
  return **facts.release();
}

// What this thread has asked for last. No handle is all zeros.
struct Asked {
  MPI_Datatype datatype{};
  unsigned gone_before = 0;
  KeptFacts* facts = nullptr;
};
constinit RESPROUT_FAST_THREAD_LOCAL Asked last_asked;

KeptFacts& kept_of(MPI_Datatype datatype) {
  const unsigned gone = gone_count.load(std::memory_order_acquire);
  if (datatype == last_asked.datatype && gone == last_asked.gone_before) [[likely]]
    return *last_asked.facts;
  KeptFacts* kept = already_kept_of(datatype);
  last_asked = {datatype, gone, kept != nullptr ? kept : &keep_from_now_on(datatype)};
  return *last_asked.facts;
}

}  // namespace

const TypeFacts& facts_of(MPI_Datatype datatype) { return kept_of(datatype).facts; }

// MPI_Pack says it, also of no elements; and what is committed stays so.
bool is_committed(MPI_Datatype datatype) {
  KeptFacts& kept = kept_of(datatype);
  if (kept.is_committed.load(std::memory_order_relaxed)) [[likely]]
    return true;
  const QuietErrors quiet;
  std::byte none[2]{};
  int place = 0;
  const int code = PMPI_Pack(&none[0], 0, datatype, &none[1], 1, &place, MPI_COMM_SELF);
  kept.is_committed.store(code == MPI_SUCCESS, std::memory_order_relaxed);
  return code == MPI_SUCCESS;
}

const TypePacker* packer_of(MPI_Datatype datatype) {
  KeptFacts& kept = kept_of(datatype);
  if (!kept.is_packed_again.load(std::memory_order_relaxed)) {
    kept.is_packed_again.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  std::call_once(kept.packer_is_made, [&] { kept.packer = TypePacker::of(datatype); });
  return kept.packer.get();
}

}  // namespace resprout::shim
