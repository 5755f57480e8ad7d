// Which protocol carries which collective, as the options say.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/protocols.hpp"
#include "shim/options.hpp"

namespace resprout::shim {

// Reads the specs of `options`, once, before anything else here. Empty, or one line that says what
// is wrong.
std::string choose_specs(const Options& options);

const runtime::ReduceSpec& reduce_spec();
// `bytes`: the size of the payload; the default depends on it.
const runtime::BroadcastSpec& broadcast_spec(std::size_t bytes);

}  // namespace resprout::shim
