// A collective that the MPI library carries until a loss.
//
// Results are kept for those to whom a loss denies them, up to a size above which a barrier costs
// less. A call with more, or whose ranks need different things, ends with a barrier. So nobody's
// call ends well before everybody has all of the result. Two ranks do neither: if one is denied its
// result, the other one is dead. Between hosts that share their processors all vote in the place of
// the barrier: who waits in a message of ours sleeps.
//
// Of a gather each rank keeps what it has given, and is through as soon as it has given it. Who
// gives too much to be kept waits for the root's word that it has all.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/natives.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/process/inside_mpi.hpp"
#include "mpi/process/world.hpp"
#include "runtime/native_call.hpp"

namespace resprout::shim {

// A barrier is cheap over shared slots. Between hosts it takes longer than to copy what is kept.
inline constexpr std::size_t kept_on_one_host_max = std::size_t{16} << 10;
inline constexpr std::size_t kept_between_hosts_max = std::size_t{256} << 10;
// What is given in a gather and is kept.
inline constexpr std::size_t given_bytes_max = std::size_t{64} << 10;
// For so much counts what is given where ranks give as much as they like.
inline constexpr std::size_t uneven_bytes = given_bytes_max / 4;

// The library broke off a collective. Open MPI has more words for it than ULFM's three.
bool is_interruption(int code);

// The barrier at the end of a call: over shared slots where they are open, else the library's on
// `native`. False: not everybody comes to it.
bool meet_at_end(Communicator& communicator, MPI_Comm native);
// This process does not come to it.
void stay_away_from_end(Communicator& communicator);

struct NativeParts {
  Communicator* communicator = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
  bool synchronizes = false;  // without a barrier
  int root = -1;              // who alone gives anything
  bool may_keep = true;       // all need the same: it may do without a barrier
  // What the library calls a mistake of the program is run again by the session: that has all hear
  // of it, where the library lets others wait.
  bool redoes_mistakes = false;
  void* buffer = nullptr;  // where that is
  Layout layout = {};      // of it
};

// `Run`: int(), the library's call.
template <typename Run>
class NativeCollective final : public runtime::NativeCall {
 public:
  NativeCollective(const NativeParts& parts, Run run) : parts_(parts), run_(run) {}

  bool run() override {
    pass_on_revocations();
    const InsideMpi inside;
    code_ = run_();
    if (is_interruption(code_) || (parts_.redoes_mistakes && code_ != MPI_SUCCESS)) return false;
    if (!ends_with_barrier() || is_voted_on()) return true;
    has_come_to_end_ = true;
    return meet_at_end(*parts_.communicator, parts_.comm);
  }
  void interrupt() override {
    if (ends_with_barrier() && !is_voted_on() && !has_come_to_end_)
      stay_away_from_end(*parts_.communicator);
    revoke_native(parts_.comm);
  }
  std::span<const std::byte> payload() override {
    return is_kept() ? packed(parts_.buffer, parts_.layout, storage_)
                     : std::span<const std::byte>();
  }
  void take(std::span<const std::byte> payload) override {
    // The other one of two lives, and this one was denied it all the same, or has made a mistake.
    const bool is_mistake = code_ != MPI_SUCCESS && !is_interruption(code_);
    if (!is_mistake) code_ = is_among_two() ? MPI_ERR_OTHER : MPI_SUCCESS;
    if (!is_kept()) return;
    const int taken = take_payload(payload, parts_.buffer, parts_.layout);
    if (taken != MPI_SUCCESS) code_ = taken;
  }
  bool synchronizes() const override { return parts_.synchronizes || ends_with_barrier(); }
  int root() const override { return parts_.root; }
  bool is_voted_on() const override {
    return ends_with_barrier() && !parts_.communicator->session->is_on_one_host() &&
           World::current()->is_oversubscribed();
  }

  // What the library's call returned.
  int code() const { return code_; }

 private:
  bool is_among_two() const { return parts_.communicator->world_ranks.size() <= 2; }
  bool may_be_kept() const {
    const std::size_t max = parts_.communicator->session->is_on_one_host() ? kept_on_one_host_max
                                                                           : kept_between_hosts_max;
    return parts_.may_keep && parts_.layout.packed_bytes <= max;
  }
  bool is_kept() const { return may_be_kept() && !is_among_two(); }
  bool ends_with_barrier() const { return !may_be_kept() && !is_among_two(); }

  const NativeParts parts_;
  Run run_;
  int code_ = MPI_SUCCESS;
  bool has_come_to_end_ = false;
  std::vector<std::byte> storage_;
};

// Of a gather, or of what is one but for what the root makes of it.
struct GatherParts {
  MPI_Comm native = MPI_COMM_NULL;
  int root = 0;
  std::size_t kept_bytes = 0;  // for so many count what a rank gives, the same at all
  // Once it has ended well here nobody asks for what this rank has given: the root has told it, or
  // is this rank.
  bool is_done_with = false;
};

// `AnyLanding`: a Landing. `Row`: Buffer(), what this process gives. `Run`: int(), the library's
// call. `Take`: int(rows), at the root: takes what was given once more.
template <typename AnyLanding, typename Row, typename Run, typename Take>
class NativeGather final : public runtime::NativeCall {
 public:
  NativeGather(const GatherParts& parts, AnyLanding& landing, Row row, Run run, Take take)
      : parts_(parts), landing_(landing), make_row_(row), run_(run), take_(take) {}

  // What the library calls a mistake of the program is done again by messages of ours: there it
  // lets others wait.
  bool run() override {
    pass_on_revocations();
    const InsideMpi inside;
    is_at_work_ = true;
    has_ended_well_ = run_() == MPI_SUCCESS;
    return has_ended_well_;
  }
  void interrupt() override {
    if (is_at_work_) landing_.give_up();
    is_at_work_ = false;
    revoke_native(parts_.native);
  }
  std::span<const std::byte> payload() override {
    if (has_ended_well_ && parts_.is_done_with) return {};
    if (row_.data() == nullptr) row_ = make_row_();
    return row_.view();
  }
  std::size_t kept_bytes() override { return parts_.kept_bytes; }
  void take(std::span<const std::byte> rows) override { code_ = take_(rows); }
  bool synchronizes() const override { return false; }
  int root() const override { return parts_.root; }
  Form form() const override { return Form::gather; }

  // The call returns this.
  int end() {
    if (has_ended_well_) landing_.take();
    return code_;
  }

 private:
  const GatherParts parts_;
  AnyLanding& landing_;
  Row make_row_;
  runtime::Buffer row_;
  Run run_;
  Take take_;
  int code_ = MPI_SUCCESS;
  bool is_at_work_ = false;  // the library has written, or may write, where `landing_` says
  bool has_ended_well_ = false;
};

}  // namespace resprout::shim
