#include "runtime/collectives.hpp"

#include <utility>

#include "runtime/started.hpp"

namespace resprout::runtime {

Outcome allreduce(Session& session, Lock& lock, const ReduceSpec& spec,
                  std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume) {
  Started started(session);
  started.allreduce(spec, input, combiner);
  return started.wait(lock, consume);
}

Outcome agree(Session& session, Lock& lock, const ReduceSpec& spec,
              std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume) {
  Started started(session);
  started.agree(spec, input, combiner);
  return started.wait(lock, consume);
}

Outcome reduce(Session& session, Lock& lock, const ReduceSpec& spec, int root,
               std::span<const std::byte> input, Combiner& combiner, ResultConsumer consume) {
  Started started(session);
  started.reduce(spec, root, input, combiner);
  return started.wait(lock, consume);
}

Outcome allgather(Session& session, Lock& lock, const ReduceSpec& spec, Buffer input,
                  ResultConsumer consume) {
  Started started(session);
  started.allgather(spec, std::move(input));
  return started.wait(lock, consume);
}

Outcome gather(Session& session, Lock& lock, const ReduceSpec& spec, int root, Buffer input,
               ResultConsumer consume) {
  Started started(session);
  started.gather(spec, root, std::move(input));
  return started.wait(lock, consume);
}

Outcome barrier(Session& session, Lock& lock) {
  Started started(session);
  started.barrier();
  return started.wait(lock, nullptr);
}

Outcome broadcast(Session& session, Lock& lock, const BroadcastSpec& spec, int root,
                  std::span<const std::byte> payload, ResultConsumer consume) {
  Started started(session);
  started.broadcast(spec, root, payload);
  return started.wait(lock, consume);
}

}  // namespace resprout::runtime
