// The patient allreduce of one process, told by hand what the others say.
#include "protocols/patient_allreduce/patient_allreduce.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<PatientAllreduce>;

const PatientAllreduceConfig eight{8, 2, 100};

void call(OneProcess& process) {
  process.tell([](auto& machine, const Context& context) { machine.handle_call(context); });
}

void ask(OneProcess& process, int from) { process.hear(MessageKind::pull, from, 0, 0, Slot::none); }

TEST_CASE("who is in time and waits for nobody says what an allreduce says") {
  OneProcess process(eight, 4);
  process.contribution(6, 0);
  CHECK(process.said() == "");
  call(process);
  process.contribution(5, 0);
  CHECK(process.said() == "combine:5 combine:6 contribution>0/accumulator");
  process.result(0, 0);
  CHECK(process.said() == "deliver:0 result>5/result result>6/result");
  CHECK_FALSE(process.wake());
}

TEST_CASE("when its patience ends a process asks those below whose message is due") {
  OneProcess process(eight, 0);
  call(process);
  process.contribution(2, 0);
  CHECK(process.said() == "");
  CHECK(process.wake());
  CHECK(process.said() == "pull>1/none pull>4/none");
  CHECK_FALSE(process.wake());
  process.contribution(1, 0);
  CHECK(process.said() == "combine:1 combine:2");
}

TEST_CASE("who has contributed asks above when its patience ends") {
  OneProcess process(eight, 7);
  call(process);
  CHECK(process.said() == "contribution>6/input");
  process.wake();
  CHECK(process.said() == "pull>6/none");
}

TEST_CASE("who is asked before its call leaves itself out, and asks on") {
  OneProcess leaf(eight, 7);
  ask(leaf, 6);
  CHECK(leaf.said() == "restart@0 exclude:7 contribution>6/accumulator pull>6/none");

  OneProcess inner(eight, 4);
  inner.contribution(5, 0);
  ask(inner, 0);
  CHECK(inner.said() == "restart@0 exclude:4 combine:5 pull>6/none");
  inner.contribution(6, 0);
  CHECK(inner.said() == "combine:6 contribution>0/accumulator pull>0/none");
  inner.result(0, 0);
  CHECK(inner.said() == "deliver:0 result>5/result result>6/result");
}

TEST_CASE("a call that comes too late changes nothing in the operation") {
  OneProcess process(eight, 7);
  ask(process, 6);
  process.said();
  call(process);
  CHECK(process.said() == "");
  process.tell([](const auto& machine, const Context&) { CHECK(machine.is_late()); });
  CHECK_FALSE(process.wake());
  process.suspect(6);
  CHECK(process.said() == "contribution>4/accumulator pull>4/none");
}

TEST_CASE("who is late stays so in the rounds that follow") {
  OneProcess process(eight, 7);
  ask(process, 6);
  process.said();
  call(process);
  process.suspect(0);
  CHECK(process.said() == "restart@1 exclude:7 contribution>5/accumulator pull>5/none");
}

TEST_CASE("who is late and has delivered reports what was decided") {
  OneProcess process(eight, 7);
  ask(process, 6);
  process.result(6, 0);
  process.said();
  process.suspect(0);
  CHECK(process.said() == "restart@1 contribution>5/result#0 pull>5/none");
}

TEST_CASE("who is asked after its call is not late") {
  OneProcess process(eight, 4);
  call(process);
  ask(process, 0);
  CHECK(process.said() == "pull>5/none pull>6/none");
  process.tell([](const auto& machine, const Context&) { CHECK_FALSE(machine.is_late()); });
}

TEST_CASE("behind a lost one its children are asked") {
  OneProcess process(eight, 4);
  call(process);
  ask(process, 0);
  process.said();
  process.contribution(5, 0);
  process.suspect(6);
  CHECK(process.said() == "combine:5 exclude:6 pull>7/none");
}

TEST_CASE("a late coordinator decides without its own contribution") {
  constexpr int procs = 2;
  const PatientAllreduceConfig two{procs, 2, 100};
  OneProcess process(two, 0);
  process.contribution(1, 0);
  CHECK(process.said() == "");
  ask(process, 1);
  CHECK(process.said() == "restart@0 exclude:0 combine:1 deliver:0 result>1/result");
}

}  // namespace
}  // namespace resprout::protocols
