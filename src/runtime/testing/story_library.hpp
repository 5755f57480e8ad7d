// The library below of stories (story.hpp), to which sessions leave collectives until a loss.
#pragma once

#include <map>

#include "runtime/native_call.hpp"
#include "runtime/testing/story_got.hpp"
#include "runtime/testing/turns.hpp"

namespace resprout::runtime::testing {

// A communicator's library, whose operations end nowhere any more, once one was interrupted: at
// some they have ended then, at others not.
struct Library {
  std::map<std::size_t, std::map<int, Part>> entered;  // by step and rank of the communicator
  bool is_interrupted = false;
};

class LibraryCall final : public NativeCall {
 public:
  LibraryCall(Turns& turns, Engine& engine, Session& session, Library& library, const Step& what,
              std::size_t step)
      : turns_(turns),
        engine_(engine),
        session_(session),
        library_(library),
        what_(what),
        step_(step) {}

  bool run() override {
    auto& parts = library_.entered[step_];
    parts[self_of(session_)] = part_of(session_, step_);
    while (!has_all(parts)) {
      if (is_interrupted() || knows_of_loss()) return false;
      engine_.tick();
    }
    while (turns_.random().below(4) != 0) {  // it takes its time
      if (is_interrupted()) return false;
      engine_.tick();
    }
    Part sum;
    for (const auto& [rank, part] : parts)
      if (!what_.is_broadcast() || rank == what_.root) sum += part;
    result_ = Payload(sum, what_.bytes);
    return true;
  }
  void interrupt() override { library_.is_interrupted = true; }
  std::span<const std::byte> payload() override { return result_.bytes(); }
  void take(std::span<const std::byte> payload) override { result_ = Payload(payload); }
  bool synchronizes() const override { return !what_.is_broadcast(); }
  int root() const override { return what_.is_broadcast() ? what_.root : -1; }

 private:
  bool has_all(const std::map<int, Part>& parts) const {
    return what_.is_broadcast()
               ? parts.contains(what_.root)
               : parts.size() == static_cast<std::size_t>(session_.everybody().size());
  }
  bool is_interrupted() const { return library_.is_interrupted || session_.is_revoked(); }
  bool knows_of_loss() const { return !engine_.losses().among(session_.everybody()).empty(); }

  Turns& turns_;
  Engine& engine_;
  Session& session_;
  Library& library_;
  const Step what_;
  const std::size_t step_;
  Payload result_;
};

}  // namespace resprout::runtime::testing
