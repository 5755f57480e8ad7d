#include "mpi/policies/replicas/substituted_collective.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/random.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/operators/reduction.hpp"
#include "mpi/policies/replicas/compared.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/world.hpp"
#include "runtime/replicas/recalled_collective.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {
namespace {

using runtime::MessageName;
using runtime::RecalledCollective;
using What = Pattern::Kind;

thread_local SubstitutedCollective* active = nullptr;

bool is_reduction(What kind) {
  return kind == What::reduction || kind == What::prefix || kind == What::lower_ones;
}

std::span<const std::byte> elements_of(const Piece& piece) {
  return spread(piece.buffer, piece.layout);
}

std::vector<std::byte> packed_bytes(const Piece& piece) {
  std::vector<std::byte> storage;
  const auto bytes = packed(piece.buffer, piece.layout, storage);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void note_outcome(const runtime::Session& session, const runtime::Outcome& outcome) {
  if (active != nullptr) active->note(session, outcome);
}

void SubstitutedCall::enter(SubstitutedCollective& collective) {
  collective.begin();
  active = &collective;
}

void SubstitutedCall::leave(SubstitutedCollective& collective, Comparison* comparison) {
  active = nullptr;
  collective.end(comparison);
}

bool SubstitutedCall::is_of_neighbors(SubstitutedCollective& collective) {
  const CallData* call_data = collective.call_data();
  return call_data != nullptr && call_data->pattern.kind == What::neighbors;
}

void SubstitutedCollective::note(const runtime::Session& session, const runtime::Outcome& outcome) {
  is_delivered_ = outcome.is_delivered;
  missing_.clear();
  const std::vector<int> contributors = session.contributors().ranks();
  for (int rank = 0; rank < session.everybody().size(); ++rank)
    if (!std::ranges::binary_search(contributors, rank)) missing_.push_back(rank);
}

SubstitutedCollective::SubstitutedCollective(ReplicaSubstitution& by, MPI_Comm comm,
                                             const char* call, std::uint64_t request)
    : by_(by), call_(call) {
  const Communicator& communicator = *communicator_of(comm);
  const auto known_as = name_of(comm);
  world_ranks_ = communicator.world_ranks;
  is_derived_ = communicator.derived.has_value();
  if (communicator.is_inter || world_ranks_.size() < 2 || !known_as) return;
  communicator_ = *known_as;
  if (request != 0) {
    std::uint64_t state = communicator_ ^ request;
    communicator_ = splitmix64(state);
  }
  call_data_.emplace(communicator.rank, static_cast<int>(world_ranks_.size()));
}

// `rank`: of the communicator. `part`: what of it is for one rank alone; 0: for all.
MessageName SubstitutedCollective::name(Of of, int rank, int part) const {
  const int of_world = world_ranks_[static_cast<std::size_t>(rank)];
  return {{communicator_, of_world, of_world, part, of}, number_};
}

void SubstitutedCollective::begin() {
  is_delivered_ = true;
  missing_.clear();
  settle_decisions();
  if (!call_data_) return;
  number_ = by_.next_collective(communicator_);
  keep_contribution();
}

void SubstitutedCollective::keep_contribution() {
  const auto& given = call_data_->given();
  const int self = call_data_->rank();
  const Pattern& pattern = call_data_->pattern;
  const auto keep = [&](int part, std::span<const std::byte> bytes) {
    by_.keep(name(Of::contributions, self, part), bytes, world_ranks_);
  };
  if (pattern.kind == What::neighbors) {
    keep_for_neighbors();
  } else if (is_reduction(pattern.kind)) {
    keep(0, given.empty() ? std::span<const std::byte>{} : elements_of(given[0]));
  } else if (pattern.kind == What::exchange ||
             (pattern.kind == What::scatter && pattern.root == self)) {
    for (int rank = 0; rank < static_cast<int>(given.size()); ++rank)
      keep(rank + 1, packed_bytes(given[static_cast<std::size_t>(rank)]));
  } else if (pattern.kind == What::barrier || pattern.kind == What::gather ||
             (pattern.kind == What::broadcast && pattern.root == self)) {
    keep(0, given.empty() ? std::vector<std::byte>{} : packed_bytes(given[0]));
  }
}

// All of a stream has the same readers.
void SubstitutedCollective::keep_for_neighbors() {
  const auto& given = call_data_->given();
  const auto& ways = call_data_->ways_out();
  const auto keep = [&](int part, std::span<const std::byte> bytes) {
    by_.keep(name(Of::contributions, call_data_->rank(), part), bytes, world_ranks_);
  };
  if (ways.empty()) keep(0, given.empty() ? std::vector<std::byte>{} : packed_bytes(given[0]));
  for (std::size_t i = 0; i < ways.size(); ++i) keep(ways[i].part, packed_bytes(given[i]));
  awaited_.resize(call_data_->ways_in().size());
  std::iota(awaited_.begin(), awaited_.end(), std::size_t{0});
  is_own_ = true;
}

std::vector<int> SubstitutedCollective::missing() const {
  const World& world = *World::current();
  std::set<int> all(missing_.begin(), missing_.end());
  for (int rank = 0; world.lost_count() != 0 && rank < static_cast<int>(world_ranks_.size());
       ++rank)
    if (world.is_lost(world_ranks_[static_cast<std::size_t>(rank)])) all.insert(rank);
  return {all.begin(), all.end()};
}

bool SubstitutedCollective::is_complete(const std::vector<int>& missing) const {
  const What kind = call_data_->pattern.kind;
  if (kind == What::broadcast || kind == What::scatter) return is_delivered_;
  return missing.empty() && !(is_derived_ && is_reduction(kind));
}

// What proves nothing is known not to before anybody is waited for. What others may take is
// compared before.
void SubstitutedCollective::end(Comparison* comparison) {
  if (World::current() == nullptr) return;
  const std::vector<int> lost = missing();
  if (!call_data_) {
    if (!lost.empty() && world_ranks_.size() > 1)
      by_.end_here(mpi_name_of(call_),
                   "is on a communicator of which other planes do not know, and a rank is lost");
    if (comparison != nullptr) comparison->end();
    return;
  }
  const Pattern& pattern = call_data_->pattern;
  const auto& got = call_data_->got();
  const bool is_of_neighbors = pattern.kind == What::neighbors;
  const bool has_all = is_of_neighbors || is_complete(lost);
  if (is_of_neighbors) by_.wait_for([&] { return maybe_put_neighbors(); });
  const bool is_own = got.empty() || (is_of_neighbors ? is_own_ : has_all);
  if (comparison != nullptr) is_own ? comparison->end() : comparison->abstain();
  if (!has_all) fill(lost);
  if (is_reduction(pattern.kind) && !got.empty())
    by_.keep(name(Of::results, call_data_->rank(), 0), elements_of(got[0]),
             {{world_ranks_[static_cast<std::size_t>(call_data_->rank())]}});
  by_.note_collective(communicator_, number_);
}

void SubstitutedCollective::fill(const std::vector<int>& missing) {
  const What kind = call_data_->pattern.kind;
  if (kind == What::other)
    by_.end_here(mpi_name_of(call_), "has no stand-ins, and a rank is lost");
  else if (is_reduction(kind))
    recall_reduction();
  else
    put_blocks(missing);
}

void SubstitutedCollective::put_block(int rank, int part, const Piece& piece) {
  const auto block = by_.recall(name(Of::contributions, rank, part),
                                world_ranks_[static_cast<std::size_t>(rank)], call_);
  take_block(block, piece);
}

bool SubstitutedCollective::maybe_put_neighbors() {
  std::erase_if(awaited_, [&](std::size_t i) { return maybe_put_neighbor(i); });
  return awaited_.empty();
}

// A process can be a neighbor of its own.
bool SubstitutedCollective::maybe_put_neighbor(std::size_t i) {
  const auto [rank, part] = call_data_->ways_in()[i];
  const MessageName wanted = name(Of::contributions, rank, part);
  bool is_of_own_plane = true;
  const auto block = rank == call_data_->rank()
                         ? by_.said(wanted)
                         : by_.maybe_recall(wanted, world_ranks_[static_cast<std::size_t>(rank)],
                                            call_, &is_of_own_plane);
  if (block) take_block(*block, call_data_->got()[i]);
  is_own_ = is_own_ && is_of_own_plane;
  return block.has_value();
}

void SubstitutedCollective::put_blocks(const std::vector<int>& missing) {
  const Pattern& pattern = call_data_->pattern;
  const auto& got = call_data_->got();
  const int self = call_data_->rank();
  switch (pattern.kind) {
    case What::barrier:
      for (const int rank : missing) put_block(rank, 0, {});
      break;
    case What::broadcast:
      if (!got.empty()) put_block(pattern.root, 0, got[0]);
      break;
    case What::scatter:
      if (!got.empty()) put_block(pattern.root, self + 1, got[0]);
      break;
    case What::gather:
      for (const int rank : missing)
        if (!got.empty()) put_block(rank, 0, got[static_cast<std::size_t>(rank)]);
      break;
    case What::exchange:
      for (const int rank : missing) put_block(rank, self + 1, got[static_cast<std::size_t>(rank)]);
      break;
    default:
      break;
  }
}

void SubstitutedCollective::recall_reduction() {
  const auto& got = call_data_->got();
  const What kind = call_data_->pattern.kind;
  const int self = call_data_->rank();
  if (got.empty() || call_data_->given().empty()) return;
  const int end =
      kind == What::reduction ? call_data_->size() : self + (kind == What::prefix ? 1 : 0);
  if (end == 0) return;
  RecalledCollective::Setup setup;
  setup.communicator = communicator_;
  setup.number = number_;
  setup.rank = world_ranks_[static_cast<std::size_t>(self)];
  setup.has_result = true;
  for (int rank = 0; rank < end; ++rank)
    if (rank != self) setup.needs.emplace_back(world_ranks_[static_cast<std::size_t>(rank)], 0);
  std::optional<RecalledCollective> recalled;
  auto state = RecalledCollective::State::waiting;
  by_.wait_until([&](runtime::Recall& recall) {
    if (!recalled) recalled.emplace(setup, recall);
    state = recalled->advance();
    return state != RecalledCollective::State::waiting;
  });
  if (state == RecalledCollective::State::hopeless)
    by_.end_here(mpi_name_of(call_), "waits for a rank of which no replica is left");
  if (state == RecalledCollective::State::has_result)
    gather_up(recalled->result, got[0].buffer, got[0].layout);
  else if (const auto form = form_of_sum())
    put_sum(recalled->contributions, *form);
  else
    put_result(combined(recalled->contributions, end));
}

// Nothing: it is none of those that have to be reproducible.
std::optional<SumForm> SubstitutedCollective::form_of_sum() const {
  const Layout& given = call_data_->given()[0].layout;
  if (call_data_->pattern.kind != What::reduction) return std::nullopt;
  return reproducible_form(call_data_->pattern.op, given.datatype, given.count);
}

void SubstitutedCollective::put_sum(const std::vector<std::vector<std::byte>>& others,
                                    const SumForm& form) {
  SumCombiner combiner;
  std::vector<std::byte> sum =
      sums_of(by_.said(name(Of::contributions, call_data_->rank(), 0)).data(), form);
  for (const auto& other : others) combiner.combine(sums_of(other.data(), form), sum);
  const Layout& given = call_data_->given()[0].layout;
  const Piece& mine = call_data_->got()[0];
  Reduction(call_data_->pattern.op, given.datatype, given.count)
      .write_part(sum, call_data_->pattern.first, mine.layout.count, mine.buffer);
}

// Of the ranks before `end`, in the grouping that our reductions over trees have: partial results
// of 1, 2, 4, ... ranks, two of the same size combined as soon as they are there; of prefixes one
// by one.
std::vector<std::byte> SubstitutedCollective::combined(
    const std::vector<std::vector<std::byte>>& others, int end) const {
  const Pattern& pattern = call_data_->pattern;
  const int self = call_data_->rank();
  MpiCombiner combiner(pattern.op, call_data_->given()[0].layout);
  const auto own = by_.said(name(Of::contributions, self, 0));
  std::vector<std::pair<int, std::vector<std::byte>>> partials;
  const auto merge = [&] {
    auto upper = std::move(partials.back());
    partials.pop_back();
    combiner.combine(partials.back().second, upper.second);
    partials.back() = {partials.back().first + upper.first, std::move(upper.second)};
  };
  std::size_t next = 0;
  for (int rank = 0; rank < end; ++rank) {
    partials.emplace_back(1, rank == self ? own : others[next++]);
    while (partials.size() > 1 && (pattern.kind != What::reduction ||
                                   partials[partials.size() - 2].first == partials.back().first))
      merge();
  }
  while (partials.size() > 1) merge();
  return std::move(partials.back().second);
}

void SubstitutedCollective::put_result(std::span<const std::byte> sum) {
  const Piece& mine = call_data_->got()[0];
  gather_up_part(sum, call_data_->given()[0].layout, call_data_->pattern.first, mine.buffer,
                 mine.layout);
}

}  // namespace resprout::shim
