// Planes that were lost and come back: what the launcher and the planes say to each other about it,
// in folders where planes meet (discovery.hpp). The first start of all planes meets in the job's
// own folder.
//
//   JOB/has-checkpoints       by a plane: there is something to come back to
//   JOB/returning             by the launcher: the number of the latest return; 1 is the first
//   JOB/return-N/             where all planes meet that live after return N
//   JOB/return-N/returns-K    by the launcher: it is plane K that comes back there
//   JOB/return-N/addresses-K  by plane K, at its first checkpoint: it waits to be taken in
//   JOB/return-N/files        by the plane that decides: it has given its files to plane K
//   JOB/return-N/joined       by plane K: it was taken in, at the checkpoint of this number
//
// Thread rule: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace resprout::runtime {

struct Return {
  std::uint64_t number = 0;
  std::int32_t plane = 0;
  std::int32_t decider = 0;  // the plane that has decided to take it in

  constexpr bool operator==(const Return&) const = default;
};

// The job's folder, of one where planes meet; and the number of the return after which they do, 0:
// it is the first start.
std::string job_of_discovery(const std::string& discovery);
std::uint64_t return_of_discovery(const std::string& discovery);
// The folder where planes meet after return `number` of the job in folder `job`.
std::string discovery_of_return(const std::string& job, std::uint64_t number);

// The plane, started there, is one that comes back.
bool comes_back(const std::string& discovery, std::int32_t plane);
// Whether it comes back so, and is not one of the others yet.
bool is_coming_back(const std::string& discovery, std::int32_t plane);
// The return behind number `after` that waits to be taken in, without who decides it. Nothing:
// there is none, or not yet.
std::optional<Return> waiting_return(const std::string& job, std::uint64_t after,
                                     std::int32_t planes);

// Nothing happens if it cannot be written: then nobody comes back, or says so.
void say_that_there_are_checkpoints(const std::string& job);
void say_files_given(const std::string& discovery);
bool are_files_given(const std::string& discovery);
void say_joined(const std::string& discovery, std::uint64_t checkpoint);

}  // namespace resprout::runtime
