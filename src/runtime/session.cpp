#include "runtime/session.hpp"

#include <algorithm>
#include <string>

#include "core/invariant.hpp"
#include "runtime/engine.hpp"

namespace resprout::runtime {

Session::Session(Engine& engine, std::uint64_t id, std::shared_ptr<const Members> members)
    : engine_(engine), id_(id), everybody_(members), members_(std::move(members)) {}

Operation::Setup Session::setup() {
  Operation::Setup setup;
  setup.number = next_++;
  setup.members = members_;
  setup.outlet = this;
  return setup;
}

Outcome Session::allreduce(Lock& lock, const ReduceSpec& spec, std::span<const std::byte> input,
                           Combiner& combiner, const ResultConsumer& consume) {
  Operation::Setup with = setup();
  with.input = input;
  with.combiner = &combiner;
  return run(lock, make_allreduce(std::move(with), spec), consume, After::synchronize);
}

Outcome Session::barrier(Lock& lock) {
  Operation::Setup with = setup();
  with.input.emplace();  // a payload of no bytes
  return run(lock, make_allreduce(std::move(with), ReduceSpec{}), nullptr, After::synchronize);
}

Outcome Session::reduce(Lock& lock, const ReduceSpec& spec, int root,
                        std::span<const std::byte> input, Combiner& combiner,
                        const ResultConsumer& consume) {
  const Rank root_member = members_->index_of_comm_rank(root);
  if (root_member == no_rank) {  // nobody is left who wants a result
    Outcome outcome;
    outcome.is_delivered = true;
    return outcome;
  }
  Operation::Setup with = setup();
  with.input = input;
  with.combiner = &combiner;
  const Outcome outcome =
      run(lock, make_reduce(std::move(with), spec, root_member), consume, After::archive);
  synchronize_if_due(lock, 0);
  return outcome;
}

Outcome Session::broadcast(Lock& lock, const BroadcastSpec& spec, int root,
                           std::span<const std::byte> payload, const ResultConsumer& consume) {
  const Rank root_member = members_->index_of_comm_rank(root);
  if (root_member == no_rank) return {};
  Operation::Setup with = setup();
  if (members_->self() == root_member) with.input = payload;
  const After after = payload.size() >= large_bytes ? After::leave : After::archive;
  const Outcome outcome =
      run(lock, make_broadcast(std::move(with), spec, root_member), consume, after);
  synchronize_if_due(lock, payload.size());
  return outcome;
}

void Session::synchronize_if_due(Lock& lock, std::size_t bytes) {
  ++unsynchronized_;
  kept_bytes_ += bytes;
  if (unsynchronized_ >= unsynchronized_max || kept_bytes_ >= kept_bytes_max) barrier(lock);
}

Outcome Session::run(Lock& lock, std::unique_ptr<Operation> operation,
                     const ResultConsumer& consume, After after) {
  Operation& running = *operation;
  operations_.push_back(std::move(operation));
  start(running);
  engine_.wait_until(lock, [&] {
    return running.state() != Operation::State::running && !running.uses_caller_memory();
  });
  Outcome outcome;
  outcome.number = running.number();
  outcome.is_delivered = running.state() == Operation::State::delivered;
  outcome.is_touched = running.is_touched();
  if (outcome.is_touched) {
    outcome.recovery_ns = engine_.now() - running.touched_since();
    for (const Rank rank : running.suspects())
      outcome.lost.push_back(running.members().world_rank(rank));
  }
  if (outcome.is_delivered && consume)
    if (const auto result = running.result()) consume(*result);
  if (after == After::archive) running.archive();
  if (after != After::synchronize) return outcome;
  running.archive();
  if (!running.excluded().empty()) members_ = members_->without(running.excluded());
  forget_before(running.number());
  return outcome;
}

void Session::start(Operation& operation) {
  operation.start(engine_.now(), engine_.lost_members(operation.members()));
  if (auto due = early_.extract(operation.number()); !due.empty())
    for (EarlyFrame& frame : due.mapped())
      operation.handle_frame(engine_.now(), frame.header.message, frame.prefix,
                             std::move(frame.arrival));
  flush(operation);
}

void Session::forget_before(std::uint64_t number) {
  const auto keep = std::find_if(operations_.begin(), operations_.end(),
                                 [&](const auto& it) { return it->number() >= number; });
  for (auto it = operations_.begin(); it != keep; ++it)
    if ((*it)->is_being_sent()) engine_.linger(std::move(*it));
  operations_.erase(operations_.begin(), keep);
  unsynchronized_ = 0;
  kept_bytes_ = 0;
}

Operation* Session::find(std::uint64_t number) {
  if (operations_.empty()) return nullptr;
  const std::uint64_t first = operations_.front()->number();
  if (number < first || number - first >= operations_.size()) return nullptr;
  return operations_[number - first].get();
}

void Session::flush(Operation& operation) {
  if (!operation.flush(engine_.now())) engine_.come_back(*this, operation.number());
  if (operation.deadline().at != never) engine_.wake_at_deadline(*this, operation.number());
}

void Session::handle_frame(int peer, const FrameHeader& header, std::span<const std::byte> prefix,
                           Arrival arrival) {
  if (header.operation >= next_) {
    early_[header.operation].push_back(
        {header, {prefix.begin(), prefix.end()}, lasting(std::move(arrival))});
    return;
  }
  Operation* operation = find(header.operation);
  if (operation == nullptr) return;  // forgotten: every live member has completed it
  if (operation->members().index_of_world_rank(peer) != header.message.from) return;
  operation->handle_frame(engine_.now(), header.message, prefix, std::move(arrival));
  engine_.come_back(*this, header.operation);  // the transport that delivers must not be called
}

void Session::handle_loss(int world_rank) {
  for (const auto& operation : operations_) {
    const Rank rank = operation->members().index_of_world_rank(world_rank);
    if (rank == no_rank) continue;
    operation->handle_suspicion(engine_.now(), rank);
    flush(*operation);
  }
}

bool Session::try_send(int world_rank, std::uint64_t operation, const Message& message,
                       std::span<const std::byte> prefix, std::span<const std::byte> data,
                       Transfer& transfer) {
  return engine_.transport().try_send(world_rank, FrameHeader{id_, operation, message}, prefix,
                                      data, transfer);
}

Buffer Session::allocate(std::size_t bytes) {
  return bytes < shared_bytes_min ? Buffer(bytes) : Buffer(bytes, engine_.transport());
}

std::string Session::describe() const {
  std::string text = "session " + std::to_string(id_) + ": " + std::to_string(members_->size()) +
                     " of " + std::to_string(everybody_->size()) + " members, next operation " +
                     std::to_string(next_) + ", frames for " + std::to_string(early_.size()) +
                     " later operations";
  for (const auto& operation : operations_)
    if (operation->state() == Operation::State::running)
      text += "\n  operation " + std::to_string(operation->number()) +
              " runs, waits for: " + operation->deadline().reason;
  return text;
}

}  // namespace resprout::runtime
