// Which identifier a new member gets, so that members of one host stand together in the tree.
//
// An identifier is a place in the radix tree (topology/radix_tree.hpp). Scalable Membership,
// section 3.1, wants neighbors in the tree to be near each other in the network; the addresses of
// members say who is. The first member of a host gets the lowest free place, each further one the
// lowest that is free below a member of its host. Places that an order (net/order.hpp) gives to
// others are not free. So
//  1. a member has its parent on its host, unless it is the first of its host, or all places below
//     its host were taken: N hosts that come one after the other are joined by N - 1 edges;
//  2. no identifier of a process that was a member is given to another one while there are others;
//  3. without an order a new member is below a member or a former one, and nobody is below it; with
//     all members on one host that is the next identifier, in the order of their joining.
//
// Where an order gives the places, the n-th line, from 0, has identifier n, and so the children
// a*n + 1 to a*n + a, unless there are groups: then the first line of each gets the lowest place
// that is free, each further one the lowest that is free below a line of its group; so N groups
// that stand one after the other are joined by N - 1 edges. Lines that are added at the end change
// no place of those before.
//
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocols/membership/place_below.hpp"
#include "runtime/member/wire.hpp"
#include "runtime/net/order.hpp"
#include "topology/radix_tree.hpp"

namespace resprout::runtime::member {

// Whether both are addresses of one host, as far as they tell: equal, or both of the loopback.
bool is_same_host(const Address& one, const Address& other);

// The place of a new member that listens at `joiner`: above `root`, not in `reserved`, and of
// nobody in `book`, which has all members and former ones. Nothing: all are taken.
std::optional<std::int32_t> new_place(const Book& book, topology::RadixTree tree, std::int32_t root,
                                      const Address& joiner, const Ids& reserved = {});

// The place of each line. All are different.
std::vector<std::int32_t> places_of(const Order& order, topology::RadixTree tree);

}  // namespace resprout::runtime::member
