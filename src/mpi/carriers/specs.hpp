// Which protocol carries which collective, as the options say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "mpi/carriers/carrier.hpp"
#include "mpi/process/options.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

struct Communicator;

// Nobody has said how such a call is to be carried. The same answer at all members.
bool is_choice_free(const Communicator& communicator, Kind kind);
// The MPI library shall carry it until a loss, if it can. The same answer at all members.
bool prefers_native(Communicator& communicator, Kind kind, std::size_t bytes);

// Reads the specs of `options`, once, before anything else here. Empty, or one line that says what
// is wrong.
std::string choose_specs(const Options& options);

// What the text says of a protocol for broadcasts. Empty, or one line that says what is wrong.
std::string read_broadcast(const std::string& text, std::optional<runtime::BroadcastSpec>& into);

// For a reduction with a payload of so many bytes: what the options say, or else the best that
// fits.
const runtime::ReduceSpec& reduce_spec(const runtime::Session& session, std::size_t bytes);
// The same where the payloads of ranks may differ in size: it depends on nothing but the session.
const runtime::ReduceSpec& concatenation_spec(const runtime::Session& session);
// For a broadcast: what the communicator's hint says, or else the options, or else the best that
// fits. REQUIRES: it has a session.
const runtime::BroadcastSpec& broadcast_spec(const Communicator& communicator);

}  // namespace resprout::shim
