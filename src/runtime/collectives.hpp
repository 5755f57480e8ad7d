// The collectives of a session, for a thread that waits for them: each is started (started.hpp),
// and waited for. The session has no tasks when one begins.
//
// `consume` gets the result, once, if there is one; unless said otherwise a result is as long as
// the input of this process. A session that is revoked delivers nothing. Thread rule: as the
// session.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/session.hpp"

namespace resprout::runtime {

class MemoryReader;

Outcome allreduce(Session& session, Lock& lock, const ReduceSpec& spec,
                  std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume);
// The same, uniform: who gets a result and is lost then has got what the others get.
Outcome agree(Session& session, Lock& lock, const ReduceSpec& spec,
              std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume);
// Only the root gets a result. `root`: rank in the communicator.
Outcome reduce(Session& session, Lock& lock, const ReduceSpec& spec, int root,
               std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume);
// Everybody gets the contributions of all, one behind the other in the order of ranks (blocks.hpp
// says how they are told apart), of any sizes. `spec` must not depend on them. Take the input's
// memory from `Session::allocate`.
Outcome allgather(Session& session, Lock& lock, const ReduceSpec& spec, Buffer input,
                  ResultConsumer consume);
// The same for the root alone, in any order.
Outcome gather(Session& session, Lock& lock, const ReduceSpec& spec, int root, Buffer input,
               ResultConsumer consume);
Outcome barrier(Session& session, Lock& lock);
// `payload`: at the root what it sends; elsewhere only its size counts, and no more than that is
// taken (equal on all members; of a program that is wrong the root may send less).
Outcome broadcast(Session& session, Lock& lock, const BroadcastSpec& spec, int root,
                  std::span<const std::byte> payload, ResultConsumer consume);
// A broadcast of much data, inside a host: out of the root's memory if the system lets the others
// read there, else in slices. `memory`: at the root what it sends, which stays as it is; elsewhere
// where it goes, and where a part of it may be if it fails, or if there is more of it.
// `settlement`: as for an allreduce.
Outcome broadcast_large(Session& session, Lock& lock, const BroadcastSpec& spec,
                        const ReduceSpec& settlement, int root, std::span<std::byte> memory,
                        MemoryReader& reader);

}  // namespace resprout::runtime
