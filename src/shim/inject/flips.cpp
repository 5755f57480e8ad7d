#include "shim/inject/flips.hpp"

#include <algorithm>
#include <climits>

#include "shim/payload.hpp"
#include "shim/report/json.hpp"
#include "shim/report/report.hpp"

namespace resprout::shim {
namespace {

// Else the MPI library is asked to say what is wrong with them.
bool is_message(const SendBuffer& buffer, const Sending& sending) {
  return buffer.count >= 0 && buffer.datatype != MPI_DATATYPE_NULL && sending.dest >= 0;
}

std::string name_of_communicator(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return name;
}

void leave_note(const std::string& directory, const Fault& fault, const Sending& sending,
                std::size_t bytes) {
  if (directory.empty()) return;
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Json json;
  json.begin_object().key("fault").string(fault.text).key("rank").number(fault.rank);
  json.key("message").number(number(fault.message));
  json.key("bit").number(number(fault.bit % (bytes * CHAR_BIT)));
  json.key("bytes").number(number(bytes)).key("call").string(sending.call);
  json.key("destination").number(sending.dest).key("tag").number(sending.tag);
  json.key("communicator").string(name_of_communicator(sending.comm));
  json.key("flipped_ns").number(wall_clock_ns()).end_object();
  const std::string name =
      "/flipped-" + std::to_string(fault.rank) + "-" + std::to_string(fault.message) + ".json";
  write_whole_file(directory + name, json.text() + "\n");
}

void leave_note_of_memory(const std::string& directory, const Fault& fault, std::size_t bytes) {
  if (directory.empty()) return;
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Json json;
  json.begin_object().key("fault").string(fault.text).key("rank").number(fault.rank);
  json.key("checkpoint").number(number(fault.checkpoint));
  json.key("bit").number(number(fault.bit % (bytes * CHAR_BIT)));
  json.key("bytes").number(number(bytes)).key("call").string("resprout_checkpoint");
  json.key("flipped_ns").number(wall_clock_ns()).end_object();
  const std::string name = "/flipped-" + std::to_string(fault.rank) + "-memory-" +
                           std::to_string(fault.checkpoint) + ".json";
  write_whole_file(directory + name, json.text() + "\n");
}

}  // namespace

Flips::Flips(const std::vector<Fault>& faults, int rank, std::string run_directory)
    : run_directory_(std::move(run_directory)) {
  for (const Fault& fault : faults)
    if (fault.kind == Fault::Kind::flip && fault.rank == rank) due_.push_back(fault);
}

std::vector<std::string> Flips::left() {
  std::vector<std::string> texts;
  const std::scoped_lock lock(mutex_);
  for (const Fault& fault : due_) texts.push_back(fault.text);
  return texts;
}

std::vector<Fault> Flips::take_due(std::size_t bytes) {
  std::vector<Fault> taken;
  const std::scoped_lock lock(mutex_);
  ++messages_;
  std::erase_if(due_, [&](const Fault& fault) {
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
    leave_note(run_directory_, fault, sending, bytes.size());
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
  const std::scoped_lock lock(mutex_);
  sent_.push_back(std::move(bytes));
  return sent;
}

void Flips::at_checkpoint(Regions& regions) {
  const std::scoped_lock lock(mutex_);
  ++checkpoints_;
  std::erase_if(due_, [&](const Fault& fault) {
    const bool is_due = fault.checkpoint == checkpoints_ && regions.bytes() > 0;
    if (!is_due) return false;
    regions.flip(fault.bit);
    leave_note_of_memory(run_directory_, fault, regions.bytes());
    return true;
  });
}

PersistentCopy* Flips::persistent_copy(const SendBuffer& buffer, const Sending& sending) {
  if (!is_message(buffer, sending)) return nullptr;
  if (!is_copyable(layout_of(buffer.datatype, buffer.count))) return nullptr;
  const std::scoped_lock lock(mutex_);
  return &persistent_.emplace_back(*this, buffer, sending);
}

PersistentCopy::PersistentCopy(Flips& flips, const SendBuffer& original, const Sending& sending)
    : flips_(flips),
      original_(original),
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
