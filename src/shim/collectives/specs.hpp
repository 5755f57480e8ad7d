// Which protocol carries which collective, as the options say.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/session.hpp"
#include "shim/options.hpp"

namespace resprout::shim {

// Reads the specs of `options`, once, before anything else here. Empty, or one line that says what
// is wrong.
std::string choose_specs(const Options& options);

// For an operation of this session, a reduction with a payload of so many bytes: what the options
// say, or else the best that fits.
const runtime::ReduceSpec& reduce_spec(const runtime::Session& session, std::size_t bytes);
// The same where the payloads of ranks may differ in size: it depends on nothing but the session.
const runtime::ReduceSpec& concatenation_spec(const runtime::Session& session);
const runtime::BroadcastSpec& broadcast_spec(const runtime::Session& session);

}  // namespace resprout::shim
