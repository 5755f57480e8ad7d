// One collective in a plane with a gap: what this process needs of others, asked for by name.
//
// Of a reduction it first asks its replicas for the result: one whose plane has no gap has worked
// it out as the MPI library does, and so have all that were through before. Else, and for all other
// collectives, it asks for the contributions that its result is made of.
//
// Invariant: the replica of a rank that works out a reduction leads the higher ones. So all
// replicas have one result.
//
// Thread rule: as Recall.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/replicas/recall.hpp"

namespace resprout::runtime {

class RecalledCollective {
 public:
  struct Setup {
    std::uint64_t communicator = 0;
    std::uint64_t number = 0;  // of the collective on it
    std::int32_t rank = 0;     // of this process in the world
    bool has_result = false;   // it is a reduction, of which this process gets something
    // Whose contributions it takes to work it out, but for its own; of a tag each.
    std::vector<std::pair<std::int32_t, std::int32_t>> needs;
  };
  enum class State : std::uint8_t {
    waiting,
    has_result,         // `result` is it
    has_contributions,  // all of them, in the order of the needs
    hopeless,           // nobody lives who could say what is missing
  };

  RecalledCollective(Setup setup, Recall& recall) : setup_(std::move(setup)), recall_(recall) {
    if (setup_.has_result) {
      recall_.lead(result_name());
      recall_.ask(result_name(), setup_.rank);
    } else {
      ask_for_contributions();
    }
  }

  // Asked after each call on the recall; what is neither `waiting` is the last word.
  State advance() {
    if (is_asking_for_result_) {
      const Recall::Answer answer = recall_.take(result_name(), result);
      if (answer == Recall::Answer::none) return State::waiting;
      if (answer == Recall::Answer::here) return State::has_result;
      ask_for_contributions();
    }
    for (; taken_ < setup_.needs.size(); ++taken_) {
      const Recall::Answer answer = recall_.take(contribution_name(taken_), contributions[taken_]);
      if (answer == Recall::Answer::none) return State::waiting;
      if (answer != Recall::Answer::here) return State::hopeless;
    }
    return State::has_contributions;
  }

  MessageName result_name() const {
    return name_of(setup_.rank, setup_.rank, 0, Stream::Of::results);
  }

  std::vector<std::byte> result;
  std::vector<std::vector<std::byte>> contributions;

 private:
  MessageName name_of(std::int32_t sender, std::int32_t receiver, std::int32_t tag,
                      Stream::Of of) const {
    return {{setup_.communicator, sender, receiver, tag, of}, setup_.number};
  }
  MessageName contribution_name(std::size_t i) const {
    const auto [rank, tag] = setup_.needs[i];
    return name_of(rank, rank, tag, Stream::Of::contributions);
  }
  void ask_for_contributions() {
    is_asking_for_result_ = false;
    contributions.resize(setup_.needs.size());
    for (std::size_t i = 0; i < setup_.needs.size(); ++i)
      recall_.ask(contribution_name(i), setup_.needs[i].first);
  }

  const Setup setup_;
  Recall& recall_;
  bool is_asking_for_result_ = setup_.has_result;
  std::size_t taken_ = 0;
};

}  // namespace resprout::runtime
