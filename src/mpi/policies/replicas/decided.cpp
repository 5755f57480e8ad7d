#include "mpi/policies/replicas/decided.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "core/invariant.hpp"

namespace resprout::shim {
namespace {

using runtime::DecisionError;
using runtime::Decisions;
using Bytes = Decisions::Bytes;

template <typename T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <typename T>
T value_of(const Bytes& bytes) {
  T value;
  RESPROUT_INVARIANT(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

Bytes bytes_of(const Decided::Indices& indices) {
  const auto all = std::as_bytes(std::span(indices));
  return {all.begin(), all.end()};
}

Decided::Indices indices_of(const Bytes& bytes) {
  Decided::Indices indices(bytes.size() / sizeof(int));
  if (!bytes.empty()) std::memcpy(indices.data(), bytes.data(), indices.size() * sizeof(int));
  return indices;
}

}  // namespace

std::string Decided::name_of(std::uint32_t call) {
  static constexpr std::array names{"MPI_Wtime",
                                    "MPI_Get_processor_name",
                                    "a receive or probe from MPI_ANY_SOURCE",
                                    "MPI_Iprobe",
                                    "MPI_Test",
                                    "MPI_Testall",
                                    "MPI_Testany",
                                    "MPI_Testsome",
                                    "MPI_Waitany",
                                    "MPI_Waitsome",
                                    "MPI_Request_get_status",
                                    "resprout_checkpoint",
                                    "a clock, or what else it asks the system for"};
  return call < names.size() ? names[call] : "an unknown call";
}

// A replica that cannot follow ends, and its plane with it.
template <typename Function>
auto Decided::or_end(Function function) {
  try {
    return function();
  } catch (const DecisionError& error) {
    std::fprintf(stderr, "resprout: this replica cannot go on: %s\n", error.what());
    for (;;) kill(getpid(), SIGKILL);
  }
}

Bytes Decided::decide(Call call, Decisions::Pace pace, const std::function<Bytes()>& find) {
  return or_end(
      [&] { return decisions_.decide(static_cast<std::uint32_t>(call), pace, find, meanwhile_); });
}

std::optional<Bytes> Decided::poll(Call call, const std::function<std::optional<Bytes>()>& look) {
  return or_end(
      [&] { return decisions_.poll(static_cast<std::uint32_t>(call), look, meanwhile_); });
}

double Decided::wtime() {
  return value_of<double>(
      decide(Call::wtime, Decisions::Pace::at_once, [] { return bytes_of(PMPI_Wtime()); }));
}

void Decided::clock(std::span<std::byte> reading) {
  const Bytes bytes = decide(Call::clock, Decisions::Pace::at_once,
                             [&] { return Bytes(reading.begin(), reading.end()); });
  RESPROUT_INVARIANT(bytes.size() == reading.size());
  std::memcpy(reading.data(), bytes.data(), bytes.size());
}

std::string Decided::processor_name(const std::function<std::string()>& own) {
  const Bytes bytes = decide(Call::processor_name, Decisions::Pace::at_once, [&] {
    const std::string name = own();
    const auto all = std::as_bytes(std::span(name));
    return Bytes(all.begin(), all.end());
  });
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Decided::From Decided::probe(const std::function<From()>& find) {
  return value_of<From>(
      decide(Call::probe, Decisions::Pace::blocks, [&] { return bytes_of(find()); }));
}

std::optional<Decided::From> Decided::iprobe(const std::function<std::optional<From>()>& look) {
  const auto bytes = poll(Call::iprobe, [&]() -> std::optional<Bytes> {
    const auto found = look();
    return found ? std::optional(bytes_of(*found)) : std::nullopt;
  });
  return bytes ? std::optional(value_of<From>(*bytes)) : std::nullopt;
}

Decided::Completed Decided::wait(Call call, const std::function<Indices()>& complete) {
  Completed completed;
  completed.indices = indices_of(decide(call, Decisions::Pace::blocks, [&] {
    completed.is_own = true;
    return bytes_of(complete());
  }));
  return completed;
}

std::optional<Decided::Completed> Decided::test(
    Call call, const std::function<std::optional<Indices>()>& complete) {
  Completed completed;
  const auto bytes = poll(call, [&]() -> std::optional<Bytes> {
    const auto found = complete();
    if (!found) return std::nullopt;
    completed.is_own = true;
    return bytes_of(*found);
  });
  if (!bytes) return std::nullopt;
  completed.indices = indices_of(*bytes);
  return completed;
}

bool Decided::get_status(const std::function<bool()>& look) {
  return poll(Call::get_status, [&] { return look() ? std::optional(Bytes{}) : std::nullopt; })
      .has_value();
}

std::optional<runtime::Return> Decided::take_in(
    const std::function<std::optional<runtime::Return>()>& look,
    const std::function<void()>& meanwhile) {
  constexpr auto kind = static_cast<std::uint32_t>(Call::take_in);
  const Bytes bytes = or_end([&] {
    return decisions_.decide(
        kind, Decisions::Pace::at_once,
        [&] { return bytes_of(look().value_or(runtime::Return{})); }, meanwhile);
  });
  const auto found = value_of<runtime::Return>(bytes);
  return found.number != 0 ? std::optional(found) : std::nullopt;
}

void Decided::announce(const Match& match) {
  or_end([&] { return decisions_.announce(bytes_of(match)); });
}

Decided::Matches Decided::take_matches() {
  const Decisions::Announced announced = decisions_.take_announced();
  Matches matches{{}, announced.is_leading};
  for (const Bytes& bytes : announced.all) matches.all.push_back(value_of<Match>(bytes));
  return matches;
}

void Decided::settle() {
  or_end([&] { decisions_.settle(meanwhile_); });
}

void Decided::stop_repeating() {
  or_end([&] { decisions_.stop_repeating(); });
}

void Decided::finish() {
  or_end([&] { decisions_.finish(meanwhile_); });
}

}  // namespace resprout::shim
