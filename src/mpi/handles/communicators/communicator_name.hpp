// The name of a communicator that all its members, in all replicas, give it without a message.
//
// MPI_COMM_WORLD and MPI_COMM_SELF have fixed names. What is made of a communicator by a call that
// all its members make together is its n-th child, in the same order everywhere. Those that one
// such call makes have the same name, but no member in common. What only some make by themselves is
// known by who they are, and has a name only where somebody needs it.
//
// Thread rule: from any thread, as long as no two make communicators of the same one at once, which
// MPI forbids too.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace resprout::shim {

// Nothing for what two groups make (MPI_Intercomm_create, MPI_Intercomm_merge, MPI_Comm_spawn ...),
// or nobody waits for where replicas are verified (MPI_Comm_idup), and for what is made of that.
// REQUIRES: MPI is initialized; `comm` is valid.
std::optional<std::uint64_t> name_of(MPI_Comm comm);

// `made` was made of `parent`, with all of its members; it is MPI_COMM_NULL at those that are not
// in it. All members say so, and in the same order.
void name_child(MPI_Comm parent, MPI_Comm made);

// The `number`-th that these world ranks have made of `parent` with this tag, without its other
// members (MPI_Comm_create_group). All of them say so.
void name_group(MPI_Comm parent, MPI_Comm made, int tag, std::span<const int> world_ranks,
                std::uint64_t number);

// How it came to be, for people: "world", "world/2" for the second that was made of it.
// REQUIRES: it is a name that this process was given or gave.
std::string lineage_of(std::uint64_t name);

// How many were made of each, by its name: for a program that goes back.
using NamedChildren = std::unordered_map<std::uint64_t, std::uint64_t>;
NamedChildren named_children();
void set_named_children(const NamedChildren& children);

}  // namespace resprout::shim
