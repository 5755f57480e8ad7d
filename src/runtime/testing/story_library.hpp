// The library below of stories (story.hpp), to which sessions leave collectives until a loss.
#pragma once

#include <map>
#include <vector>

#include "runtime/native_call.hpp"
#include "runtime/testing/fiber_scheduler.hpp"
#include "runtime/testing/story_got.hpp"

namespace resprout::runtime::testing {

// A communicator's library, whose operations end nowhere any more, once one was interrupted: at
// some they have ended then, at others not.
struct Library {
  std::map<std::size_t, std::map<int, Part>> entered;  // by step and rank of the communicator
  bool is_interrupted = false;
};

class LibraryCall final : public NativeCall {
 public:
  LibraryCall(FiberScheduler& scheduler, Engine& engine, Session& session, Library& library,
              const Step& what, std::size_t step)
      : scheduler_(scheduler),
        engine_(engine),
        session_(session),
        library_(library),
        what_(what),
        step_(step),
        given_(row_of(session, Payload(part_of(session, step), what.bytes))) {}

  bool run() override {
    if (what_.is_scan()) return run_scan();
    auto& parts = library_.entered[step_];
    if (is_interrupted()) return false;
    parts[self_of(session_)] = part_of(session_, step_);
    while (!has_all(parts)) {
      if (is_interrupted() || knows_of_loss()) return false;
      engine_.tick();
    }
    while (scheduler_.random().below(4) != 0) {  // it takes its time
      if (is_interrupted()) return false;
      engine_.tick();
    }
    Part sum;
    for (const auto& [rank, part] : parts)
      if (!what_.is_broadcast() || rank == what_.root) sum += part;
    result_ = Payload(sum, what_.bytes);
    if (what_.has_row()) write_row(parts);
    return true;
  }
  void interrupt() override { library_.is_interrupted = true; }
  std::span<const std::byte> payload() override {
    if (summed_.data() != nullptr) return summed_.view();
    return form() == Form::handed_on ? result_.bytes() : given_.view();
  }
  void take(std::span<const std::byte> payload) override {
    if (form() != Form::handed_on)
      row_ = Buffer(payload);
    else
      result_ = Payload(payload);
  }
  bool synchronizes() const override { return !what_.is_broadcast() && form() == Form::handed_on; }
  int root() const override { return what_.is_broadcast() || what_.is_gather() ? what_.root : -1; }
  Form form() const override {
    if (what_.is_scan()) return Form::scan;
    return what_.is_gather() ? Form::gather : Form::handed_on;
  }
  bool is_voted_on() const override { return what_.kind >= Kind::native_allgather; }

  // Of one that has a row, or is a scan: what this process has got.
  std::span<const std::byte> row() const {
    return summed_.data() != nullptr ? summed_.view() : row_.view();
  }

 private:
  // Who has the sum of those below has ended well, whatever becomes of what it passes on.
  bool run_scan() {
    auto& sums = library_.entered[step_];
    const int self = self_of(session_);
    while (self > 0 && !sums.contains(self - 1)) {
      if (is_interrupted() || knows_of_loss()) return false;
      engine_.tick();
    }
    if (is_interrupted()) return false;
    Part sum = self > 0 ? sums[self - 1] : Part{};
    sum += part_of(session_, step_);
    const Payload payload(sum, what_.bytes);
    summed_ = row_of(session_, payload);
    while (scheduler_.random().below(4) != 0) {
      if (is_interrupted()) return true;
      engine_.tick();
    }
    sums[self] = sum;
    return true;
  }
  void write_row(const std::map<int, Part>& parts) {
    std::vector<Payload> payloads;
    std::size_t bytes = 0;
    for (const auto& [rank, part] : parts) {
      payloads.emplace_back(part, what_.bytes);
      bytes += block_bytes(payloads.back().bytes().size());
    }
    row_ = Buffer(bytes);
    BlockWriter writer({row_.data(), row_.size()});
    auto payload = payloads.begin();
    for (const auto& [rank, part] : parts) writer.put(rank, payload++->bytes());
  }
  // Who only gives something waits for nobody.
  bool has_all(const std::map<int, Part>& parts) const {
    if (what_.is_gather() && self_of(session_) != what_.root) return true;
    return what_.is_broadcast()
               ? parts.contains(what_.root)
               : parts.size() == static_cast<std::size_t>(session_.everybody().size());
  }
  bool is_interrupted() const { return library_.is_interrupted || session_.is_revoked(); }
  bool knows_of_loss() const { return !engine_.losses().among(session_.everybody()).empty(); }

  FiberScheduler& scheduler_;
  Engine& engine_;
  Session& session_;
  Library& library_;
  const Step what_;
  const std::size_t step_;
  const Buffer given_;
  Payload result_;
  Buffer row_;
  Buffer summed_;  // of a scan that has ended well
};

}  // namespace resprout::runtime::testing
