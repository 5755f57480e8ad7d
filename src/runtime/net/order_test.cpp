// An order says who stands in which line, and what is none is refused with its line.
#include "runtime/net/order.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

std::string refusal(const std::string& text, Order::Of of = Order::Of::members) {
  try {
    Order::parse(text, of);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("comments and empty lines count for nothing") {
  const Order order = Order::parse("# all\n\n 10.0.0.9 # the root\r\n\f\t\n10.0.0.8:4000\n");
  CHECK(order.lines().size() == 2);
  CHECK(order.find("10.0.0.9", 5, "") == 0);
  CHECK(order.find("10.0.0.8", 4000, "") == 1);
}

TEST_CASE("a member is found by its address, with the port first, or by its host's name") {
  const Order order =
      Order::parse("10.0.0.1\nNode7:4000\n10.0.0.1:4000\nnode7\nnode8.rack2\n::1\n[::2]:9\n");
  CHECK(order.find("10.0.0.1", 5, "x") == 0);
  CHECK(order.find("10.0.0.1", 4000, "x") == 2);
  CHECK(order.find("10.0.0.2", 4000, "node7") == 1);
  CHECK(order.find("10.0.0.2", 5, "NODE7") == 3);
  CHECK(order.find("10.0.0.2", 5, "node7.cluster") == 3);
  CHECK(order.find("10.0.0.2", 5, "node8") == 4);
  CHECK(order.find("0:0::1", 5, "x") == 5);
  CHECK(order.find("::2", 9, "x") == 6);
  CHECK_FALSE(order.find("::2", 8, "x"));
  CHECK_FALSE(order.find("10.0.0.2", 5, "node70"));
  CHECK_FALSE(order.find("10.0.0.2", 5, "node8.rack3"));
  CHECK_FALSE(order.find("10.0.0.2", 5, ""));
}

TEST_CASE("what is no order is refused with the line and what is wrong in it") {
  const std::string valid = " is not HOST or HOST:PORT, as node7 or 10.1.0.7:4000";
  for (const char* wrong : {"a:b", "a:0", "a:65536", "a:", ":5", "10.0.0.300", "1.2", "a:1:2",
                            "[::1", "[::1]5", "[]", "n\xc3\xb6", "a/b", "-:", "."})
    CHECK(refusal("ok\n" + std::string(wrong)) == "2: '" + std::string(wrong) + "'" + valid);
  CHECK(refusal("a rack 1") ==
        "1: '1' is too much: a line is HOST or HOST:PORT, and perhaps a GROUP");
  CHECK(refusal("a\n#\nb\nA rack") == "4: 'a' stands in line 1 already");
  CHECK(refusal("::1\n[0::1]") == "2: '::1' stands in line 1 already");
  CHECK(refusal("a:1\na:2\na\na:2") == "4: 'a:2' stands in line 2 already");
  CHECK(refusal("") == "it names nobody");
  CHECK(refusal("# nobody\n") == "it names nobody");
}

TEST_CASE("of hosts a line has no port, and the whole order fits into one line of text") {
  const Order order =
      Order::parse("Node7 rack;1 # first\n\nfd00:0::7\n10.0.0.3 b\nnode8 rack;1", Order::Of::hosts);
  CHECK(order.text() == "node7 0;fd00::7;10.0.0.3 1;node8 0");
  CHECK(Order::from_text(order.text()).text() == order.text());
  CHECK(order.find("fd00::7", 0, "x") == 1);
  CHECK(order.find("10.0.0.9", 0, "node8") == 3);
  CHECK(refusal("a\nb:4000", Order::Of::hosts) == "2: 'b:4000' is not HOST, as node7 or 10.1.0.7");
  CHECK(refusal("a b c", Order::Of::hosts) ==
        "1: 'c' is too much: a line is HOST, and perhaps a GROUP");
}

TEST_CASE("any bytes are an order or are refused, and nothing else") {
  Random random(9);
  constexpr std::array bytes = {'a',  'b',  '1',  '.',  ':',  '[',    ']', '#', ' ',
                                '\t', '\r', '\n', '\f', '\0', '\xff', '-', '_'};
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.below(40), ' ');
    for (char& byte : text) byte = bytes[random.below(bytes.size())];
    if (!refusal(text).empty()) continue;
    const Order order = Order::parse(text);
    CHECK_FALSE(order.lines().empty());
    CHECK(order.find("a", 1, "b").value_or(0) < order.lines().size());
  }
}

TEST_CASE("as many lines as there are places in a tree, and not one more") {
  std::string all;
  for (int i = 0; i < 4096; ++i) all += "node" + std::to_string(i) + "\n";
  CHECK(Order::parse(all).lines().size() == 4096);
  CHECK(refusal(all + "one-more") == "4097: there are more than 4096 lines");
}

}  // namespace
}  // namespace resprout::runtime
