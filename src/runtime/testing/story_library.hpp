// The library below of stories (story.hpp), to which sessions leave collectives until a loss.
#pragma once

#include <map>

#include "runtime/native_call.hpp"
#include "runtime/testing/part.hpp"
#include "runtime/testing/story.hpp"

namespace resprout::runtime::testing {

// A library whose operations end nowhere any more, once one was interrupted: at some they have
// ended then, at others not.
struct Library {
  std::map<std::size_t, std::map<int, Part>> entered;  // by step and rank
  bool is_interrupted = false;
};

class LibraryCall final : public NativeCall {
 public:
  LibraryCall(TurnsJob& job, Library& library, const Step& what, std::size_t step, int self)
      : job_(job), library_(library), what_(what), step_(step), self_(self) {}

  bool run() override {
    auto& parts = library_.entered[step_];
    parts[self_] = Part::of(self_, step_);
    Engine& engine = job_.engine(self_);
    while (!has_all(parts)) {
      if (library_.is_interrupted || engine.lost_count() != 0) return false;
      engine.tick();
    }
    while (job_.turns().random().below(4) != 0) {  // it takes its time
      if (library_.is_interrupted) return false;
      engine.tick();
    }
    for (const auto& [rank, part] : parts)
      if (!what_.is_broadcast() || rank == what_.root) result += part;
    return true;
  }
  void interrupt() override { library_.is_interrupted = true; }
  std::span<const std::byte> payload() override { return bytes_of(result); }
  void take(std::span<const std::byte> payload) override { result = Part::from(payload); }
  bool synchronizes() const override { return !what_.is_broadcast(); }
  int root() const override { return what_.is_broadcast() ? what_.root : -1; }

  Part result;

 private:
  bool has_all(const std::map<int, Part>& parts) const {
    return what_.is_broadcast() ? parts.contains(what_.root)
                                : parts.size() == static_cast<std::size_t>(job_.size());
  }

  TurnsJob& job_;
  Library& library_;
  const Step what_;
  const std::size_t step_;
  const int self_;
};

}  // namespace resprout::runtime::testing
