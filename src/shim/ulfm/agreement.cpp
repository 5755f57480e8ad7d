#include "shim/ulfm/agreement.hpp"

#include <cstring>

#include "shim/collectives/specs.hpp"
#include "shim/errors.hpp"

namespace resprout::shim {

Opinion::Opinion(int flag, int size, std::span<const int> acknowledged)
    : bytes_(sizeof flag + (static_cast<std::size_t>(size) + 7) / 8) {
  std::memcpy(bytes_.data(), &flag, sizeof flag);
  for (const int rank : acknowledged)
    bytes_[sizeof flag + static_cast<std::size_t>(rank) / 8] |= std::byte{1} << rank % 8;
}

int Opinion::flag() const {
  int flag = 0;
  std::memcpy(&flag, bytes_.data(), sizeof flag);
  return flag;
}

bool Opinion::acknowledges(int rank) const {
  const std::byte byte = bytes_[sizeof(int) + static_cast<std::size_t>(rank) / 8];
  return (byte >> rank % 8 & std::byte{1}) != std::byte{0};
}

bool has_unknown_failure(const runtime::Session& session, const Opinion& agreed) {
  const runtime::Members& everybody = session.everybody();
  for (int rank = 0; rank < everybody.size(); ++rank)
    if (session.members().index_of_comm_rank(rank) == no_rank && !agreed.acknowledges(rank))
      return true;
  return false;
}

namespace {

class Agreement final : public Collective {
 public:
  Agreement(runtime::Session& repair, Opinion opinion, int* flag)
      : Collective(repair), opinion_(std::move(opinion)), flag_(flag) {}

 private:
  void begin(runtime::Started& started) override {
    started.allreduce(reduce_spec(session(), opinion_.bytes().size()), opinion_.bytes(), both_);
  }
  void take(std::span<const std::byte> result) override { agreed_.take(result); }
  bool go_on(runtime::Started&, const runtime::Outcome&) override {
    *flag_ = agreed_.flag();
    return false;
  }
  bool is_harmed_by_loss() const override { return false; }
  int code() const override {
    return has_unknown_failure(session(), agreed_) ? proc_failed() : MPI_SUCCESS;
  }

  const Opinion opinion_;
  Opinion agreed_ = opinion_;
  int* const flag_;
  BitwiseAnd both_;
};

}  // namespace

std::shared_ptr<Collective> make_agreement(runtime::Session& repair, Opinion opinion, int* flag) {
  return std::make_shared<Agreement>(repair, std::move(opinion), flag);
}

}  // namespace resprout::shim
