#include "mpi/operations/rma/list_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace resprout::shim {
namespace {

// Lists up to here go with their lengths in one exchange, where every pair has a slot.
constexpr std::uint64_t slot_bytes_max = 512;
// Longer ones go in several messages.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 30;

class Exchanged {
 public:
  Exchanged(MPI_Comm comm, const std::vector<std::span<const std::byte>>& mine)
      : comm_(comm), mine_(mine), size_(mine.size()) {}

  // `most`: the length of the longest one, of all pairs.
  int run(std::uint64_t most, ListsOfBytes& others) {
    others.assign(size_, {});
    return most <= slot_bytes_max ? run_in_slots(most, others) : run_in_messages(others);
  }

 private:
  using Length = std::uint64_t;

  int run_in_slots(std::uint64_t most, ListsOfBytes& others) {
    const std::size_t slot = sizeof(Length) + most;
    std::vector<std::byte> out(slot * size_);
    std::vector<std::byte> in(slot * size_);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      const Length length = mine_[rank].size();
      std::memcpy(&out[slot * rank], &length, sizeof length);
      if (length > 0) std::memcpy(&out[slot * rank + sizeof length], mine_[rank].data(), length);
    }
    const int bytes = static_cast<int>(slot);
    const int code = MPI_Alltoall(out.data(), bytes, MPI_BYTE, in.data(), bytes, MPI_BYTE, comm_);
    if (code != MPI_SUCCESS) return code;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      Length length = 0;
      std::memcpy(&length, &in[slot * rank], sizeof length);
      const std::byte* from = &in[slot * rank] + sizeof length;
      others[rank].assign(from, from + length);
    }
    return code;
  }

  // Their lengths, and then a message for each pair that has any; of long lists several.
  int run_in_messages(ListsOfBytes& others) {
    std::vector<Length> lengths(size_);
    std::vector<Length> heard(size_);
    for (std::size_t rank = 0; rank < size_; ++rank) lengths[rank] = mine_[rank].size();
    const int code =
        MPI_Alltoall(lengths.data(), 1, MPI_UINT64_T, heard.data(), 1, MPI_UINT64_T, comm_);
    if (code != MPI_SUCCESS) return code;
    std::vector<Message> messages;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      others[rank].resize(heard[rank]);
      in_pieces(heard[rank], [&](Length begin, int bytes) {
        Message& message = messages.emplace_back(&others[rank]);
        message.is_lost = MPI_Irecv(&others[rank][begin], bytes, MPI_BYTE, static_cast<int>(rank),
                                    0, comm_, &message.request) != MPI_SUCCESS;
      });
    }
    for (std::size_t rank = 0; rank < size_; ++rank)
      in_pieces(lengths[rank], [&](Length begin, int bytes) {
        MPI_Isend(&mine_[rank][begin], bytes, MPI_BYTE, static_cast<int>(rank), 0, comm_,
                  &messages.emplace_back(nullptr).request);
      });
    for (Message& message : messages)
      if (MPI_Wait(&message.request, MPI_STATUS_IGNORE) != MPI_SUCCESS) message.is_lost = true;
    // Who is lost has said nothing.
    for (const Message& message : messages)
      if (message.is_lost && message.to != nullptr) message.to->clear();
    return MPI_SUCCESS;
  }

  struct Message {
    explicit Message(std::vector<std::byte>* list) : to(list) {}
    std::vector<std::byte>* to;  // null: it is sent
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_lost = false;
  };

  template <typename Do>
  static void in_pieces(Length length, Do act) {
    for (Length done = 0; done < length; done += piece_bytes)
      act(done, static_cast<int>(std::min(piece_bytes, length - done)));
  }

  const MPI_Comm comm_;
  const std::vector<std::span<const std::byte>>& mine_;
  const std::size_t size_;
};

}  // namespace

int exchange_lists(MPI_Comm comm, const std::vector<std::span<const std::byte>>& mine,
                   std::uint64_t most, ListsOfBytes& others) {
  return Exchanged(comm, mine).run(most, others);
}

}  // namespace resprout::shim
