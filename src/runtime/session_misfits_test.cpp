// Sessions whose members give, or take, what does not fit together: a mistake of the program.
#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "doctest/doctest.h"
#include "runtime/blocks.hpp"
#include "runtime/collectives.hpp"
#include "runtime/offered_memory.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

// Of any number of bytes; says if it was asked to combine what differs in size.
class Bytes final : public Combiner {
 public:
  bool is_commutative() const override { return false; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    if (lower.size() != upper.size()) was_wrong = true;
    for (std::size_t i = 0; i < std::min(lower.size(), upper.size()); ++i) upper[i] |= lower[i];
  }
  bool was_wrong = false;
};

constexpr std::size_t most = 300'000;
const std::vector<std::byte> memory(most, std::byte{1});

std::span<const std::byte> payload(std::size_t bytes) { return std::span(memory).first(bytes); }

}  // namespace

TEST_CASE("misfits: who gives another size to an allreduce, all are told, and go on") {
  for (const int size : {2, 3, 5, 8})
    for (const auto& spec : {ReduceSpec{}, ReduceSpec::star()})
      for (int odd = 0; odd < size; ++odd)
        for (const std::size_t other : {std::size_t{0}, std::size_t{7}, std::size_t{40'000}}) {
          CAPTURE(size);
          CAPTURE(odd);
          CAPTURE(other);
          Job job(size);
          std::atomic<int> told{0};
          std::atomic<int> wrong{0};
          job.run([&](int rank, Engine& engine, Session& session) {
            {
              Lock lock = engine.lock();
              Bytes bytes;
              const auto outcome = allreduce(session, lock, spec, payload(rank == odd ? other : 8),
                                             bytes, [&](std::span<const std::byte> result) {
                                               if (rank != odd || !result.empty()) ++wrong;
                                             });
              if (outcome.is_mismatched) ++told;
              if (!outcome.is_delivered || bytes.was_wrong) ++wrong;
            }
            if (allreduce(engine, session, 1) != size) ++wrong;
          });
          CHECK(wrong == 0);
          CHECK(told >= size - (other == 0 ? 1 : 0));  // who gave nothing wants nothing
        }
}

TEST_CASE("misfits: the root of a reduce is told of contributions that differ in size") {
  Job job(5);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    for (int odd = 0; odd < 5; ++odd) {
      Lock lock = engine.lock();
      Bytes bytes;
      const auto outcome = reduce(session, lock, ReduceSpec{}, 2, payload(rank == odd ? 9 : 8),
                                  bytes, [&](std::span<const std::byte>) { ++wrong; });
      if (rank == 2 && !outcome.is_mismatched) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("misfits: what is no row of blocks of members is nobody's result") {
  Job job(4);
  std::atomic<int> wrong{0};
  std::atomic<int> told{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    for (int odd = 0; odd < 4; ++odd) {
      Lock lock = engine.lock();
      Buffer row = session.allocate(block_bytes(5));
      BlockWriter({row.data(), row.size()}).put(rank == odd ? 77 : rank, payload(5));
      const auto outcome = allgather(session, lock, ReduceSpec{}, std::move(row),
                                     [&](std::span<const std::byte>) { wrong.fetch_add(1); });
      if (outcome.is_mismatched) ++told;
    }
    for (int odd = 0; odd < 4; ++odd) {
      Lock lock = engine.lock();
      const auto outcome = allgather(session, lock, ReduceSpec{}, Buffer(payload(7)),
                                     [&](std::span<const std::byte>) { ++wrong; });
      if (outcome.is_mismatched) ++told;
    }
  });
  CHECK(wrong == 0);
  CHECK(told == 4 * 8);
}

TEST_CASE("misfits: a root may send more or less than others take, and barriers stay in step") {
  Job job(4);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    for (const std::size_t sent : {std::size_t{0}, std::size_t{10}, std::size_t{70'000}, most})
      for (int i = 0; i < 20; ++i) {
        const std::size_t wanted = std::size_t{10} << rank;
        std::size_t got = most + 1;
        Lock lock = engine.lock();
        const auto outcome =
            broadcast(session, lock, i % 2 == 0 ? BroadcastSpec{} : BroadcastSpec::star(), 0,
                      payload(rank == 0 ? sent : wanted),
                      [&](std::span<const std::byte> result) { got = result.size(); });
        const bool is_too_much = rank != 0 && sent > wanted;
        if (outcome.is_mismatched != is_too_much || !outcome.is_delivered) ++wrong;
        if (got != (is_too_much ? most + 1 : sent)) ++wrong;
      }
    if (allreduce(engine, session, 1) != 4) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("misfits: of a large broadcast who has less room takes what fits, and is told") {
  for (const std::size_t sent : {std::size_t{300'000}, std::size_t{1'500'000}})
    for (const std::size_t room : {std::size_t{270'000}, std::size_t{1'200'000}, sent + 1}) {
      CAPTURE(sent);
      CAPTURE(room);
      Job job(3, true);
      std::atomic<int> wrong{0};
      std::array<std::vector<std::byte>, 3> all;  // outlive all threads, who read of each other
      for (std::size_t i = 0; i < 3; ++i)
        all[i].assign(i == 1 ? room + 64 : sent, std::byte(i == 0 ? 7 : 0));
      job.run([&](int rank, Engine& engine, Session& session) {
        const std::span into(all[static_cast<std::size_t>(rank)]);
        SystemMemoryReader reader;
        {
          Lock lock = engine.lock();
          const auto outcome = broadcast_large(session, lock, BroadcastSpec::star(), ReduceSpec{},
                                               0, rank == 1 ? into.first(room) : into, reader);
          if (!outcome.is_delivered) ++wrong;
          if (outcome.is_mismatched != (rank == 1 && room < sent)) ++wrong;
        }
        if (allreduce(engine, session, 1) != 3) ++wrong;
      });
      CHECK(wrong == 0);
      CHECK(all[2] == all[0]);
      for (std::size_t i = 0; i < all[1].size(); ++i)
        if (all[1][i] != std::byte(i < std::min(room, sent) ? 7 : 0)) ++wrong;
      CHECK(wrong == 0);
    }
}
