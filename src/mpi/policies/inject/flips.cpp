#include "mpi/policies/inject/flips.hpp"

#include <algorithm>
#include <climits>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/report.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// Else the MPI library is asked to say what is wrong with them.
bool is_message(const SendBuffer& buffer, const Sending& sending) {
  return buffer.count >= 0 && buffer.datatype != MPI_DATATYPE_NULL && sending.dest >= 0;
}

std::int64_t as_number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// `place`: the so-manieth of what; `bytes`: among so many was the bit.
struct Note {
  const char* place = "";
  std::uint64_t number = 0;
  std::size_t bytes = 0;
  const char* call = "";
};

Json begin_note(const Fault& fault, const Note& note) {
  Json json;
  json.begin_object().key("fault").string(fault.text).key("rank").number(fault.rank);
  json.key(note.place).number(as_number(note.number));
  json.key("bit").number(as_number(fault.bit % (note.bytes * CHAR_BIT)));
  json.key("bytes").number(as_number(note.bytes)).key("call").string(note.call);
  return json;
}

void leave_note(Notes& notes, Json json) {
  json.key("flipped_ns").number(wall_clock_ns()).end_object();
  notes.add("flipped", json);
}

// The bit is one of all pieces together. REQUIRES: they are not empty.
void flip_in(std::span<const Piece> pieces, std::uint64_t bit) {
  std::size_t byte = bit / CHAR_BIT;
  while (byte >= pieces[0].layout.packed_bytes) {
    byte -= pieces[0].layout.packed_bytes;
    pieces = pieces.subspan(1);
  }
  std::vector<std::byte> storage;
  const auto data = packed(pieces[0].buffer, pieces[0].layout, storage);
  std::vector<std::byte> changed(data.begin(), data.end());
  changed[byte] ^= std::byte{1} << (bit % CHAR_BIT);
  unpack(changed, pieces[0].buffer, pieces[0].layout);
}

}  // namespace

Flips::Flips(const std::vector<Fault>& faults, int rank, const std::string& run_directory)
    : notes_(run_directory, rank) {
  for (const Fault& fault : faults)
    if (fault.kind == Fault::Kind::flip && fault.area == Fault::Area::none && fault.rank == rank)
      due_.push_back(fault);
  has_collectives_ =
      std::ranges::any_of(due_, [](const Fault& fault) { return fault.collective > 0; });
}

std::vector<std::string> Flips::left() {
  std::vector<std::string> texts;
  const runtime::MutexLock lock(mutex_);
  for (const Fault& fault : due_) texts.push_back(fault.text);
  return texts;
}

std::vector<Fault> Flips::take_due(std::size_t bytes) {
  std::vector<Fault> taken;
  const runtime::MutexLock lock(mutex_);
  ++messages_;
  std::erase_if(due_, [&](const Fault& fault) RESPROUT_REQUIRES(mutex_) {
    const bool is_due = fault.message == messages_ && bytes > 0;
    if (is_due) taken.push_back(fault);
    return is_due;
  });
  return taken;
}

void Flips::flip(std::vector<std::byte>& bytes, const std::vector<Fault>& due,
                 const Sending& sending) {
  for (const Fault& fault : due) {
    const std::uint64_t bit = fault.bit % (bytes.size() * CHAR_BIT);
    bytes[bit / CHAR_BIT] ^= std::byte{1} << (bit % CHAR_BIT);
    Json note = begin_note(fault, {"message", fault.message, bytes.size(), sending.call});
    note.key("destination").number(sending.dest).key("tag").number(sending.tag);
    note.key("communicator").string(name_of_communicator(sending.comm));
    leave_note(notes_, std::move(note));
  }
}

SendBuffer Flips::as_sent(const SendBuffer& buffer, const Sending& sending) {
  if (!is_message(buffer, sending)) return buffer;
  const Layout layout = layout_of(buffer.datatype, buffer.count);
  const std::vector<Fault> due = take_due(is_copyable(layout) ? layout.packed_bytes : 0);
  if (due.empty()) return buffer;
  std::vector<std::byte> bytes;
  const SendBuffer sent = copy_of(buffer, layout, bytes);
  flip(bytes, due, sending);
  const runtime::MutexLock lock(mutex_);
  sent_.push_back(std::move(bytes));
  return sent;
}

void Flips::at_checkpoint(Regions& regions) {
  const runtime::MutexLock lock(mutex_);
  ++checkpoints_;
  std::erase_if(due_, [&](const Fault& fault) RESPROUT_REQUIRES(mutex_) {
    const bool is_due = fault.checkpoint == checkpoints_ && regions.bytes() > 0;
    if (!is_due) return false;
    regions.flip(fault.bit);
    const Note note{"checkpoint", fault.checkpoint, regions.bytes(), "resprout_checkpoint"};
    leave_note(notes_, begin_note(fault, note));
    return true;
  });
}

void Flips::at_collective(std::span<const Piece> given, MPI_Comm comm, const char* call) {
  const std::size_t bytes = bytes_of(given);
  if (bytes == 0) return;
  const runtime::MutexLock lock(mutex_);
  ++collectives_;
  std::erase_if(due_, [&](const Fault& fault) RESPROUT_REQUIRES(mutex_) {
    if (fault.collective != collectives_) return false;
    flip_in(given, fault.bit % (bytes * CHAR_BIT));
    Json note = begin_note(fault, {"collective", fault.collective, bytes, call});
    note.key("communicator").string(name_of_communicator(comm));
    leave_note(notes_, std::move(note));
    return true;
  });
}

PersistentCopy* Flips::persistent_copy(const SendBuffer& buffer, const Sending& sending) {
  if (!is_message(buffer, sending)) return nullptr;
  if (!is_copyable(layout_of(buffer.datatype, buffer.count))) return nullptr;
  const runtime::MutexLock lock(mutex_);
  return &persistent_.emplace_back(*this, buffer, sending);
}

PersistentCopy::PersistentCopy(Flips& flips, const SendBuffer& original, const Sending& sending)
    : flips_(flips),
      datatype_(original.datatype),
      original_{original.data, original.count, datatype_.handle()},
      sending_(sending),
      sent_(copy_of(original, layout_of(original.datatype, original.count), bytes_)) {}

void PersistentCopy::refresh() {
  const Layout layout = layout_of(original_.datatype, original_.count);
  std::vector<std::byte> storage;
  const auto data = packed(original_.data, layout, storage);
  std::copy(data.begin(), data.end(), bytes_.begin());
  flips_.flip(bytes_, flips_.take_due(bytes_.size()), sending_);
}

}  // namespace resprout::shim
