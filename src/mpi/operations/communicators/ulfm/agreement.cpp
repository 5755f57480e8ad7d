#include "mpi/operations/communicators/ulfm/agreement.hpp"

#include "mpi/carriers/bitwise_and.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "openmpi/ulfm.hpp"
#include "protocols/agreement/opinion.hpp"
#include "runtime/collectives.hpp"

namespace resprout::shim {

Opinion::Opinion(int flag, int size, std::span<const int> acknowledged)
    : bytes_(protocols::opinion_bytes(size)) {
  protocols::write_opinion(bytes_, flag, acknowledged);
}

int Opinion::flag() const { return protocols::flag_of(bytes_); }

namespace {

int code_of(const runtime::Session& repair, const Opinion& agreed) {
  const auto is_left_out = [&](int rank) {
    return repair.members().index_of_comm_rank(rank) == no_rank;
  };
  const int size = repair.everybody().size();
  return protocols::has_unknown_failure(agreed.bytes(), size, is_left_out) ? proc_failed()
                                                                           : MPI_SUCCESS;
}

class Agreement final : public Collective {
 public:
  Agreement(runtime::Session& repair, Opinion opinion, int* flag)
      : Collective(repair), opinion_(std::move(opinion)), flag_(flag) {}

 private:
  void begin(runtime::Started& started) override {
    started.agree(reduce_spec(session(), opinion_.bytes().size()), opinion_.bytes(), both_);
  }
  void take(std::span<const std::byte> result) override { agreed_.take(result); }
  bool go_on(runtime::Started&, const runtime::Outcome&) override {
    *flag_ = agreed_.flag();
    return false;
  }
  bool is_harmed_by_loss() const override { return false; }
  int code() const override { return code_of(session(), agreed_); }

  const Opinion opinion_;
  Opinion agreed_ = opinion_;
  int* const flag_;
  BitwiseAnd both_;
};

}  // namespace

int agree(runtime::Session& repair, runtime::Lock& lock, const Opinion& opinion, int* flag) {
  Opinion agreed = opinion;
  BitwiseAnd both;
  runtime::agree(repair, lock, reduce_spec(repair, opinion.bytes().size()), opinion.bytes(), both,
                 [&](std::span<const std::byte> bytes) { agreed.take(bytes); });
  if (repair.is_revoked()) return ulfm::revoked_class();  // cut off
  *flag = agreed.flag();
  return code_of(repair, agreed);
}

std::shared_ptr<Collective> make_agreement(runtime::Session& repair, Opinion opinion, int* flag) {
  return std::make_shared<Agreement>(repair, std::move(opinion), flag);
}

}  // namespace resprout::shim
