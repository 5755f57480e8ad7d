// See resprout_sim.h.
#include <stdexcept>
#include <string>

#include "bindings/refusal.hpp"
#include "bindings/resprout_sim.h"
#include "runtime/net/order.hpp"

using resprout::runtime::Order;

const char* resprout_order_of_hosts(const char* text, size_t bytes) {
  thread_local std::string lines;
  try {
    lines = Order::parse(std::string(text, bytes), Order::Of::hosts).text();
    return lines.c_str();
  } catch (const std::invalid_argument& error) {
    resprout::bindings::refuse(error.what());
    return nullptr;
  }
}
