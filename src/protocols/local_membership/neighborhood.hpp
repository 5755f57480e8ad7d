// The neighbors of a process with a local view: those member functions of LocalMembership that
// walk the tree.
//
// They are templates, so callers of `for_each_neighbor` include this header. Thread rule: they read
// the machine and change nothing.
#pragma once

#include "protocols/local_membership/local_membership.hpp"

namespace resprout::protocols {

template <std::size_t R>
Rank LocalMembership<R>::coordinator() const {
  std::int32_t id = index(view_.root);
  while (rank_at(id) != self_ && (known_.of(rank_at(id)) & (Change::hole | fenced)) != 0) ++id;
  return rank_at(id);
}

template <std::size_t R>
bool LocalMembership<R>::is_neighbor(Rank rank) const {
  if (standing_ == Standing::joining) return rank == contact_;
  if (!is_member() || rank == self_) return false;
  if (known_.is(rank, Change::asked) || is_leaf(rank)) return true;
  if (is_gap(rank)) return false;
  if (rank == parent() || is_child(rank)) return true;
  return wave_.ballot.exists() &&
         (rank == wave_.parent || rank == wave_.ballot.coordinator || is_wave_child(rank));
}

template <std::size_t R>
Rank LocalMembership<R>::parent() const {
  if (self_ == view_.root) return no_rank;
  const auto is_gap_at = [this](std::int32_t id) { return is_gap(rank_at(id)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(self_), is_gap_at);
  return above < 0 ? view_.root : rank_at(above);
}

template <std::size_t R>
bool LocalMembership<R>::is_ancestor(Rank id) const {
  std::int32_t above = index(self_);
  while (above > index(id)) above = config_->tree.parent(above);
  return above == index(id) && id != self_;
}

// Whether `id` is a member of the view, and this process knows that by itself. It can know it of
// the root, of its ancestors and of its children.
template <std::size_t R>
bool LocalMembership<R>::is_sure(Rank id) const {
  if (is_gap(id) || known_.is(id, Change::unclear)) return false;
  return id == view_.root || is_ancestor(id) || (is_unsure_ == 0 && is_child(id));
}

template <std::size_t R>
bool LocalMembership<R>::is_child(Rank id) const {
  if (index(id) >= view_.limit || id == self_ || id == view_.root) return false;
  const auto is_gap_at = [this](std::int32_t at) { return is_gap(rank_at(at)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(id), is_gap_at);
  return above == index(self_) || (above < 0 && self_ == view_.root);
}

template <std::size_t R>
bool LocalMembership<R>::is_wave_gap(Rank id) const {
  return is_gap(id) || known_.is(id, Change::in_wave);
}

// Whether the wave admits the joiner `id`, and this process passes the wave on to it. The joiner
// itself passes it on to nobody: others ask the identifiers below it.
template <std::size_t R>
bool LocalMembership<R>::is_leaf(Rank id) const {
  if (!known_.is(id, Change::leaf) || known_.is(id, fenced) || wave_.is_leaf != 0) return false;
  const auto is_gap_at = [this](std::int32_t at) { return is_wave_gap(rank_at(at)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(id), is_gap_at);
  return above == index(self_) || (above < 0 && leads());
}

template <std::size_t R>
bool LocalMembership<R>::is_wave_child(Rank id) const {
  if (id == self_ || wave_.is_leaf != 0 || is_wave_gap(id)) return false;
  const auto is_gap_at = [this](std::int32_t at) { return is_wave_gap(rank_at(at)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(id), is_gap_at);
  return above == index(self_) || (above < 0 && leads());
}

// The child in the tree of the view that follows `after`, the first one for -1; -1: there is none.
// Children of gaps that have no member above them are children of the root.
template <std::size_t R>
std::int32_t LocalMembership<R>::next_child(std::int32_t after) const {
  const bool is_root = self_ == view_.root;
  const topology::RadixWalk walk{config_->tree, view_.limit, is_root ? -1 : index(self_)};
  const auto is_passed = [this](std::int32_t at) {
    return rank_at(at) == self_ || is_gap(rank_at(at));
  };
  return after < 0 ? walk.first(is_passed) : walk.next(after, is_passed);
}

template <std::size_t R>
std::int32_t LocalMembership<R>::next_wave_child(std::int32_t after) const {
  const topology::RadixWalk walk{config_->tree, view_.limit, leads() ? -1 : index(self_)};
  const auto is_passed = [this](std::int32_t at) {
    return rank_at(at) == self_ || is_wave_gap(rank_at(at));
  };
  return after < 0 ? walk.first(is_passed) : walk.next(after, is_passed);
}

template <std::size_t R>
template <typename F>
void LocalMembership<R>::for_each_neighbor(F f) const {
  const auto maybe = [&](Rank id) {
    if (id != no_rank && is_neighbor(id)) f(id);
  };
  maybe(contact_);
  if (!is_member()) return;
  for (const Change& change : known_) maybe(change.id);
  maybe(parent());
  for (std::int32_t child = next_child(-1); child >= 0; child = next_child(child))
    maybe(rank_at(child));
  if (!wave_.ballot.exists()) return;
  maybe(wave_.parent);
  maybe(wave_.ballot.coordinator);
  if (wave_.is_leaf != 0) return;
  for (std::int32_t child = next_wave_child(-1); child >= 0; child = next_wave_child(child))
    maybe(rank_at(child));
}

}  // namespace resprout::protocols
