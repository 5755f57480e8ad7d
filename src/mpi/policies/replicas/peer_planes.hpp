// The other planes, as this process talks with them: its links to them, and each conversation that
// goes over these. Made when planes meet: in MPI_Init, and again whenever one that was lost comes
// back (checkpoints.hpp).
//
// Thread rule: made and left by the thread that calls MPI, everything else as its parts have it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mpi/process/options.hpp"
#include "runtime/replicas/decisions.hpp"
#include "runtime/replicas/lag.hpp"
#include "runtime/replicas/plane_links.hpp"
#include "runtime/replicas/states.hpp"
#include "runtime/replicas/verifier.hpp"

namespace resprout::shim {

class PeerPlanes {
 public:
  struct Setup {
    std::string discovery;  // the folder
    std::string address;    // where this process can be reached by its own plane
    int rank = 0;           // in the world, and its size
    int ranks = 1;
    runtime::Verifier::OnFinding on_finding;
    // Processes are lost one by one; empty: with their planes.
    std::function<void(runtime::Replica)> on_process_lost = {};
    // As Votes::Setup has it; used if anything is verified.
    std::function<std::optional<std::vector<std::byte>>(const runtime::MessageName&)> said = {};
  };
  // Listens for the others, and hears nothing yet. Throws std::system_error or std::runtime_error.
  PeerPlanes(const Options& options, Setup setup);
  PeerPlanes(const PeerPlanes&) = delete;
  PeerPlanes& operator=(const PeerPlanes&) = delete;

  // Of all processes of all planes, by plane and rank; waits until all living planes are there.
  // Collective over MPI_COMM_WORLD, as `meet`; waiting takes no processor. Throws as the
  // constructor.
  void meet();
  // There is nobody else: as if all others were lost.
  void stay_alone();

 private:
  void lose_plane(std::int32_t plane);

  const Setup setup_;
  const std::int32_t plane_;
  const std::int32_t planes_;

 public:
  runtime::PlaneLinks links;
  runtime::Verifier verifier;
  runtime::Lag lag;
  runtime::Decisions decisions;
  runtime::StateTaker states;
};

// What crosses planes with this method, and is kept.
runtime::Votes::Setup votes_setup(const Options& options, int rank);
bool is_lazy(const Options& options);
// Other planes keep so many of each byte that is sent.
std::uint64_t copies_of_a_byte(const Options& options);

}  // namespace resprout::shim
