// A plane that was lost, and was started again by the launcher, becomes one of the others at a
// checkpoint.
//
// It runs the program from its beginning, alone and without a word on stdout, until it is at its
// first checkpoint. There it waits. At each of theirs the others agree whether to take it in
// (decided.hpp): then all planes part, meet again together with it, and tell it what is protected
// and what was counted. Nothing of what was said before is of any meaning afterwards: all numbers
// of messages begin again.
//
// So what a plane has to do with another one is what it has after MPI_Init, and no protocol knows
// of planes that come back. docs/explanation/adr/015.
// Thread rule: the thread that calls MPI. Collective over MPI_COMM_WORLD, where nothing is said
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/policies/checkpoints/muted.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/policies/replicas/peer_planes.hpp"
#include "runtime/replicas/returns.hpp"

namespace resprout::shim {

class Returns {
 public:
  struct Setup {
    PeerPlanes& peer_planes;
    Decided& decided;
    int rank = 0;  // in the world
    std::int32_t plane = 0;
    std::int32_t planes = 2;
    std::string run_directory;
    // All planes part, and meet there.
    std::function<void(const std::string& discovery)> regroup;
    void (*meanwhile)() = nullptr;  // while a call waits for other planes
  };
  // `discovery`: where this plane has met the others, or would have.
  Returns(Setup setup, std::string discovery);
  Returns(const Returns&) = delete;
  Returns& operator=(const Returns&) = delete;

  // This plane comes back, and was not taken in yet. Not collective.
  bool comes_back() const { return muted_ != nullptr; }
  // The launcher may start planes again. Not collective.
  void say_that_there_are_checkpoints() const;

  // Whether a plane is to be taken in here: the same in all planes.
  std::optional<runtime::Return> due();
  // It is: `state` is this rank's.
  void take_in(const runtime::Return& found, std::span<const std::byte> state);

  // Waits until the others take this plane in: the state of this rank. Nothing: it cannot be had,
  // as all of them were lost before they had said it, or their files. REQUIRES: comes_back().
  std::optional<std::vector<std::byte>> wait();
  // It is what they are, at the checkpoint of this number. From here on it is heard. REQUIRES:
  // wait().
  void join(std::uint64_t checkpoint);

 private:
  void give_files(std::int32_t plane) const;
  void mark() const;

  const Setup setup_;
  std::string discovery_;
  std::unique_ptr<Muted> muted_;
};

}  // namespace resprout::shim
