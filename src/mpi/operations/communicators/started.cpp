// New communicators that are not waited for: MPIX_Comm_ishrink, MPI_Comm_idup,
// MPI_Comm_idup_with_info.
//
// As of those that are waited for, the members agree first whether the MPI library is to make a
// duplicate, and then whether a loss fell into that (new_communicators.cpp).
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/carriers/bitwise_or.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/carriers/started/under_way.hpp"
#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/neighbors.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/handles/openmpi/steps.hpp"
#include "mpi/operations/communicators/derivation.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "resprout/resprout.h"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

enum class Who { everybody, the_living };

class DerivedMaking final : public Collective {
 public:
  // `session`: that in which the members agree.
  // `info`: hints for the new one, or null; the program may free it meanwhile.
  DerivedMaking(runtime::Session& session, MPI_Comm comm, Who who, MPI_Comm* made,
                MPI_Info info = MPI_INFO_NULL)
      : Collective(session), comm_(comm), who_(who), made_(made), roll_(session, 0, false) {
    leave_to_program();
    *made = MPI_COMM_NULL;
    if (info != MPI_INFO_NULL) PMPI_Info_dup(info, &hints_);
  }
  ~DerivedMaking() override {
    if (hints_ != MPI_INFO_NULL) PMPI_Info_free(&hints_);
  }
  DerivedMaking(const DerivedMaking&) = delete;
  DerivedMaking& operator=(const DerivedMaking&) = delete;

 private:
  // What the members agree on, or whom this process waits for.
  enum class Stage { who_makes_it, mpi, has_mpi_made_it, carrier };

  void begin(runtime::Started& started) override { say(started); }
  void take(std::span<const std::byte> all) override {
    if (stage_ == Stage::has_mpi_made_it)
      ended_ = all[0];
    else
      roll_.hear(all);
  }
  bool is_ready(runtime::Started& started) override {
    if (stage_ != Stage::mpi) return true;
    const QuietLosses quiet;
    int is_over = 0;
    PMPI_Request_get_status(of_mpi_, &is_over, MPI_STATUS_IGNORE);
    const bool is_in_vain = !ulfm::is_active() && World::current()->lost_count() != 0;
    if (is_over == 0 && !is_in_vain) return false;
    code_ = is_over != 0 ? end_of_mpi() : proc_failed();
    say_whether_made(started);
    return true;
  }
  bool go_on(runtime::Started& started, const runtime::Outcome&) override {
    if (session().is_revoked()) return false;
    if (stage_ == Stage::who_makes_it && who_ == Who::everybody && !is_derived(comm_)) {
      const bool is_whole = session().is_whole();
      if (is_whole && roll_.is_peaceful()) {
        leave_to_mpi(started);
        return true;
      }
      const bool is_told =
          World::current()->options().on_loss == OnLoss::error && !call_policy().stands_in();
      if (!is_whole && is_told) code_ = proc_failed();
      if (code_ != MPI_SUCCESS) return false;
    }
    if (stage_ == Stage::has_mpi_made_it) {
      if ((ended_ & making_ran_out) != std::byte{0}) {
        *made_ = MPI_COMM_NULL;
        code_ = code_without_numbers(comm_, code_);
        return false;
      }
      if (ended_ == std::byte{0}) {
        runtime::Lock held;  // by whoever advances tasks
        const std::uint64_t child = session().next_child();
        if (code_ == MPI_SUCCESS) {
          open_communicator(*made_, child, held);
          name_child(comm_, *made_);
          note_copied_attributes(comm_, *made_);
        }
        give_hints();
        return false;
      }
      note_broken_making();
      *made_ = MPI_COMM_NULL;
    }
    stage_ = Stage::carrier;
    if (!roll_.is_over()) {
      say(started);
      return true;
    }
    runtime::Lock held;  // by whoever advances tasks
    code_ = make_derived(members(), roll_, session().next_child(), comm_, made_, held);
    if (code_ == MPI_SUCCESS && who_ == Who::everybody) {
      name_child(comm_, *made_);
      communicator_of(*made_)->grid = grid_of(comm_);
      communicator_of(*made_)->graph = graph_of(comm_);
      code_ = copy_attributes(comm_, *made_);
      give_hints();
    }
    return false;
  }
  void give_hints() {
    if (code_ == MPI_SUCCESS && hints_ != MPI_INFO_NULL) code_ = MPI_Comm_set_info(*made_, hints_);
  }
  bool is_harmed_by_loss() const override { return who_ == Who::everybody; }
  int code() const override { return code_; }

  // Nothing is said meanwhile.
  void leave_to_mpi(runtime::Started& started) {
    const QuietMaking quiet;
    stage_ = Stage::mpi;
    code_ = start_duplicate(comm_, made_, &of_mpi_);
    if (code_ == MPI_SUCCESS) return;
    say_whether_made(started);
  }
  int end_of_mpi() {
    const QuietMaking quiet;
    return PMPI_Wait(&of_mpi_, MPI_STATUS_IGNORE);
  }
  void say_whether_made(runtime::Started& started) {
    stage_ = Stage::has_mpi_made_it;
    ended_ = end_of_making(code_);
    started.allreduce(reduce_spec(session(), 1), {&ended_, 1}, any_);
  }

  void say(runtime::Started& started) {
    const std::span<const std::byte> words = roll_.next_words();
    started.allreduce(reduce_spec(session(), words.size()), words, any_);
  }
  std::vector<int> members() const {
    if (who_ == Who::everybody) return communicator_of(comm_)->world_ranks;
    std::vector<int> left;
    for (int i = 0; i < session().members().size(); ++i)
      left.push_back(session().members().world_rank(rank_at(i)));
    return left;
  }

  const MPI_Comm comm_;
  const Who who_;
  MPI_Comm* const made_;
  RollCall roll_;
  MPI_Info hints_ = MPI_INFO_NULL;
  BitwiseOr any_;
  Stage stage_ = Stage::who_makes_it;
  MPI_Request of_mpi_ = MPI_REQUEST_NULL;
  std::byte ended_{0};  // of what MPI has made
  int code_ = MPI_SUCCESS;
};

}  // namespace

extern "C" int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (World::current() != nullptr && comm != MPI_COMM_NULL) {
    runtime::Lock lock = World::current()->engine().lock();
    repair_session_of(comm, lock);
  }
  const auto make = [=](MPI_Comm on, Communicator&) -> std::shared_ptr<Collective> {
    if (!ulfm::outlives_losses()) return nullptr;
    return std::make_shared<DerivedMaking>(*communicator_of(on)->repair, on, Who::the_living,
                                           newcomm);
  };
  // One process alone, or several whom the lifeline does not know, or nobody can be lost.
  const auto at_once = [&] {
    const int code = MPIX_Comm_shrink(comm, newcomm);
    return code == MPI_SUCCESS ? PMPI_Ibarrier(MPI_COMM_SELF, request) : code;
  };
  return start_collective(comm, "comm_ishrink", request, {make}, at_once);
}

namespace {

// `native`: the library's own call, for whom nobody is to outlive a loss; `info`: hints for the new
// one.
int start_duplicate_of(MPI_Comm comm, const char* name, MPI_Info info, MPI_Comm* made,
                       MPI_Request* request, const std::function<int()>& native) {
  const World* world = World::current();
  if (world != nullptr && comm != MPI_COMM_NULL && !is_derived(comm) && is_revoked(comm))
    return finish(comm, name, ulfm::revoked_class());
  const bool is_for_mpi = world == nullptr || !ulfm::outlives_losses() ||
                          (world->options().is_replicated() && !call_policy().stands_in());
  if (is_for_mpi) {
    const int code = native();
    if (code == MPI_SUCCESS && world != nullptr) name_started_duplicate(comm, *made);
    return code;
  }
  const auto make = [=](MPI_Comm on, Communicator& carrying) -> std::shared_ptr<Collective> {
    return std::make_shared<DerivedMaking>(*carrying.session, on, Who::everybody, made, info);
  };
  return start_collective(comm, name, request, {make}, native);
}

}  // namespace

extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  return start_duplicate_of(comm, "comm_idup", MPI_INFO_NULL, newcomm, request,
                            [=] { return PMPI_Comm_idup(comm, newcomm, request); });
}

// Open MPI 4.1 has none.
#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION >= 5

extern "C" int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                                       MPI_Request* request) {
  return start_duplicate_of(comm, "comm_idup_with_info", info, newcomm, request,
                            [=] { return PMPI_Comm_idup_with_info(comm, info, newcomm, request); });
}

#endif
