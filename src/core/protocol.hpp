// The contract of a protocol, and the law its drivers obey.
//
// A machine is the state of ONE rank in ONE operation (or in one long-lived service). It knows no
// clock, no socket, no thread, no heap and no global state. Everything it learns is an argument,
// everything it wants is pulled:
//
//   in   start(context)                      the process entered the operation
//        handle_message(context, message)    -> Disposition: what happens to the message
//        handle_timeout(context)             the deadline it asked for has come (or not: see 4)
//        handle_suspicion(context, rank)     `rank` has just been added to context.suspects
//   out  poll_event(context)  -> optional<Event>     what the driver must do, in order
//        poll_send(context)   -> optional<Message>   one message, asked when the port is free
//        poll_timeout(context) -> Deadline           when to call handle_timeout, and why
//
// The law of the driver:
//  1. `start` comes first. Messages that arrive before the process entered wait, in order of
//     arrival, until after `start`; suspicions known by then are in context.suspects already.
//  2. After each `start` and `handle_*`, drain `poll_event` before anything else. An event that
//     speaks of a message's payload speaks of the message just handled or of a kept one.
//  3. Whenever the send port is free, ask `poll_send` once; a message that it returns counts as
//     sent. A driver may ask late (back-pressure) and need not ask while the port is busy. Where
//     moving the payload costs much it may send a `correction` of reliable broadcast without it.
//  4. Re-read `poll_timeout` after each call. A spurious call of anything is a no-op.
//  5. Messages of suspected ranks may still be handed in: their sender may have sent them while it
//     was alive. A suspected rank stays suspected: it is dead or it is fenced.
//  6. A machine goes on living after `deliver` or `fail`: others may still need it. The driver
//     keeps it until nobody can.
//  7. `poll_*` with nothing to say changes nothing; machines are trivially copyable, so a copy is a
//     snapshot and two equal copies behave alike.
//
// A parent machine owns its children by value and drains them inside its own handlers.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include "core/context.hpp"
#include "core/event.hpp"
#include "core/message.hpp"
#include "core/time.hpp"

namespace resprout {

enum class Disposition : std::uint8_t {
  done,  // handled; the driver may drop it once the events that name it are drained
  keep,  // the machine will ask for it later: into the mailbox, payload and all
};

// A machine with words of its own.
template <typename M, typename Message, typename Event>
concept MachineOf =
    std::is_trivially_copyable_v<M> && requires(M machine, const M constant, const Context& context,
                                                const Message& message, Rank rank) {
      { machine.start(context) } -> std::same_as<void>;
      { machine.handle_message(context, message) } -> std::same_as<Disposition>;
      { machine.handle_timeout(context) } -> std::same_as<void>;
      { machine.handle_suspicion(context, rank) } -> std::same_as<void>;
      { machine.poll_event(context) } -> std::same_as<std::optional<Event>>;
      { machine.poll_send(context) } -> std::same_as<std::optional<Message>>;
      { constant.poll_timeout(context) } -> std::same_as<Deadline>;
    };

template <typename M>
concept Machine = MachineOf<M, Message, Event>;

}  // namespace resprout
