// New communicators that are not waited for: MPIX_Comm_ishrink, MPI_Comm_idup of a remade one.
#include <memory>
#include <utility>
#include <vector>

#include "resprout/resprout.h"
#include "runtime/engine.hpp"
#include "shim/collectives/nonblocking/collective.hpp"
#include "shim/collectives/specs.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/remade/attributes.hpp"
#include "shim/remade/derivation.hpp"
#include "shim/remade/remade.hpp"
#include "shim/remade/roll_call.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"
#include "shim/world.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

enum class Who { everybody, the_living };

class Remaking final : public Collective {
 public:
  // `session`: that in which the members agree.
  Remaking(runtime::Session& session, MPI_Comm comm, Who who, MPI_Comm* made)
      : Collective(session), comm_(comm), who_(who), made_(made), roll_(session, 0, false) {
    leave_to_program();
    *made = MPI_COMM_NULL;
  }

 private:
  void begin(runtime::Started& started) override { say(started); }
  void take(std::span<const std::byte> all) override { roll_.hear(all); }
  bool go_on(runtime::Started& started, const runtime::Outcome&) override {
    if (session().is_revoked()) return false;
    if (!roll_.is_over()) {
      say(started);
      return true;
    }
    runtime::Lock held;  // by whoever advances tasks
    code_ = remake(members(), roll_, session().next_child(), comm_, made_, held);
    if (code_ == MPI_SUCCESS && who_ == Who::everybody) {
      communicator_of(*made_)->grid = grid_of(comm_);
      code_ = copy_attributes(comm_, *made_);
    }
    return false;
  }
  bool is_harmed_by_loss() const override { return who_ == Who::everybody; }
  int code() const override { return code_; }

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
  BitwiseOr any_;
  int code_ = MPI_SUCCESS;
};

}  // namespace

extern "C" int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (World::current() != nullptr && comm != MPI_COMM_NULL) {
    runtime::Lock lock = World::current()->engine().lock();
    repair_session_of(comm, lock);
  }
  const auto make = [=](MPI_Comm on, runtime::Session&) -> std::shared_ptr<Collective> {
    if (!ulfm::is_active()) return nullptr;
    return std::make_shared<Remaking>(*communicator_of(on)->repair, on, Who::the_living, newcomm);
  };
  // One process alone, or several whom the lifeline does not know, or nobody can be lost.
  const auto at_once = [&] {
    const int code = MPIX_Comm_shrink(comm, newcomm);
    return code == MPI_SUCCESS ? PMPI_Ibarrier(MPI_COMM_SELF, request) : code;
  };
  return start_collective(comm, "comm_ishrink", request, {make}, at_once);
}

extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (!is_remade(comm) && World::current() != nullptr && comm != MPI_COMM_NULL && is_revoked(comm))
    return finish(comm, "comm_idup", ulfm::revoked_class());
  if (!is_remade(comm)) return PMPI_Comm_idup(comm, newcomm, request);
  const auto make = [=](MPI_Comm on, runtime::Session& session) -> std::shared_ptr<Collective> {
    return std::make_shared<Remaking>(session, on, Who::everybody, newcomm);
  };
  return start_collective(comm, "comm_idup", request, {make},
                          [&] { return PMPI_Comm_idup(comm, newcomm, request); });
}
