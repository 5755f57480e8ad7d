// What a machine tells its driver to do or to note, pulled by `poll_event`.
#pragma once

#include <cstdint>

#include "core/message.hpp"

namespace resprout {

enum class EventKind : std::uint8_t {
  colored,  // the broadcast's payload is here: it is `subject`'s, the driver puts it into `result`
  combine,  // accumulator := accumulator (op) payload of `subject`, a message that was kept;
            // the accumulator starts as the input. `subject.round` tells the round it belongs to
  adopt,    // accumulator := payload of `subject`, a kept message or the one just handled: somebody
            // has decided already, and that decision takes the place of what was combined
  restart,  // accumulator := payload of this process's slot `subject.slot`: the input; or, if it
            // has delivered already, the result; or nothing. Kept messages of rounds
            // < `subject.round` are obsolete
  exclude,  // the contribution of rank `subject.from` is left out of the accumulator
  deliver,  // the operation's result: the payload of `subject`, or the accumulator when
            // `subject.from` is the machine's own rank. The caller may return
  fail,     // the operation ended here without a result; the caller may return
  suspect,  // `subject.from` is suspected: a failure detector says so, or an operation that detects
            // by itself; the driver adds it to context.suspects and calls handle_suspicion
  revoked,  // the communicator: `subject.from` has said so, or it is the machine's own rank. What
            // is pending on it, and whatever will be begun, ends with the error for that
};

struct Event {
  EventKind kind;
  Message subject;
};

}  // namespace resprout
