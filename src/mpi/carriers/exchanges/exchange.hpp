// MPI_Alltoall and its kin, in all forms: everybody has a block for everybody
// (docs/explanation/protocols/concatenation.md).
//
// If it is little, everybody gets everything. Else all members of one host offer what they give,
// and each reads its blocks there; elsewhere there is one gather for each receiver. In the end all
// tell each other whose blocks they lack; nobody takes these.
#pragma once

#include <span>
#include <vector>

#include "mpi/carriers/exchanges/offered_blocks.hpp"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/handles/datatypes/pieces.hpp"
#include "runtime/buffer.hpp"

namespace resprout::shim {

class BlockExchange : public Collective {
 protected:
  // `is_even`: all blocks of all are of the same length, so that everybody knows the sum.
  BlockExchange(runtime::Session& session, bool is_even) : Collective(session), is_even_(is_even) {}

  // What this process gives: a block for each rank, where it stays as it is until the exchange is
  // over; or a row of them. Said before it begins, or instead that it cannot tell what it gives and
  // takes: then all get the same error. REQUIRES of that: it is not even.
  void give(std::vector<std::span<const std::byte>> blocks) { given_ = std::move(blocks); }
  void give(runtime::Buffer row);
  void give_up() { takes_all_ = false; }
  // What that rank gives to this one.
  virtual void take_from(int rank, std::span<const std::byte> block) = 0;
  // What went wrong, if anything did.
  void note(int code) {
    if (code != MPI_SUCCESS) code_ = code;
  }

 private:
  // Telling each other how much there is; everything to everybody; or telling each other where it
  // is and reading that, or to one receiver after the other, and then agreeing on who counts.
  enum class Stage { measuring, at_once, offering, reading, by_receiver, agreeing };

  bool is_ready(runtime::Started& started) override;
  void begin(runtime::Started& started) override;
  bool go_on(runtime::Started& started, const runtime::Outcome& last) override;
  void take(std::span<const std::byte> row) override;
  int code() const override { return code_; }

  void begin_exchange(runtime::Started& started, std::size_t bytes);
  std::size_t row_bytes() const;
  void allgather_all(runtime::Started& started);
  void offer(runtime::Started& started);
  void end_reading(runtime::Started& started);
  void begin_by_receiver(runtime::Started& started);
  void gather_for_receiver(runtime::Started& started);
  void agree_on_who_counts(runtime::Started& started);
  void allgather(runtime::Started& started, std::span<const std::byte> data);
  void take_lists(std::span<const std::byte> row);
  void take_what_counts();

  std::vector<std::span<const std::byte>> given_;  // by receiver
  runtime::Buffer packed_;                         // they are in it, if they are not the program's
  OfferedBlocks offered_;
  bool are_read_ = false;  // the others' blocks, by offers of theirs
  Stage stage_ = Stage::measuring;
  bool is_even_;
  std::size_t sum_ = 0;            // of the rows of all
  int receiver_ = 0;               // whose turn it is
  std::vector<std::byte> blocks_;  // that were for this process
  std::vector<bool> counts_;       // by rank, the same everywhere: it has told, and nobody lacks it
  bool takes_all_ = true;          // as in runtime::Block
  int code_ = MPI_SUCCESS;
};

class Exchange final : public BlockExchange {
 public:
  // REQUIRES: the pieces are valid.
  Exchange(runtime::Session& session, const Pieces& send, const Pieces& receive, bool is_even);

  // What the call says is valid in a communicator of so many ranks.
  static bool are_valid(const void* sendbuf, const Pieces& send, const Pieces& receive,
                        const runtime::Session& session) {
    const int size = session.everybody().size();
    return receive.among(session).are_valid(size) &&
           (sendbuf == MPI_IN_PLACE || send.among(session).are_valid(size));
  }
  bool uses(MPI_Datatype datatype) const override {
    return send_.use(datatype) || receive_.use(datatype);
  }

 private:
  void take_from(int rank, std::span<const std::byte> block) override;

  const PieceList send_;
  const PieceList receive_;
};

}  // namespace resprout::shim
