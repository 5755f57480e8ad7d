#include "mpi/policies/replicas/findings.hpp"

#include <signal.h>
#include <unistd.h>

#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/report.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

using runtime::Finding;
using runtime::Stream;

const char* text_of(Stream::Of of) {
  switch (of) {
    case Stream::Of::messages:
      return "message";
    case Stream::Of::contributions:
      return "contribution";
    case Stream::Of::results:
      return "result";
    case Stream::Of::checkpoints:
      return "checkpoint";
    case Stream::Of::truncated:
      return "truncated";
  }
  __builtin_unreachable();
}

const char* text_of(Finding::End end) {
  switch (end) {
    case Finding::End::outvoted:
      return "outvoted";
    case Finding::End::undecided:
      return "undecided";
    case Finding::End::lost:
      return "lost";
  }
  __builtin_unreachable();
}

// By what the majority has, as long as this process has not worked with it.
bool is_replaceable(const Finding& finding) {
  if (finding.absent_planes != 0) return false;
  const Stream::Of of = finding.name.stream.of;
  return of == Stream::Of::messages || of == Stream::Of::contributions;
}

// The launcher ends the planes.
[[noreturn]] void end_process() {
  for (;;) kill(getpid(), SIGKILL);
}

}  // namespace

// Who goes back says the first only: others follow from it.
void Findings::note(const Finding& finding) {
  const Then then = what_follows(finding);
  if (then == Then::go_back) {
    const runtime::MutexLock lock(mutex_);
    if (tainted_) return;
    tainted_ = finding;
    const bool is_wrong = what_follows_without_checkpoint(finding) == Then::exclude;
    mark_ =
        setup_.run_directory + (is_wrong ? "/tainted-" : "/doubted-") + std::to_string(setup_.rank);
    if (!setup_.run_directory.empty()) write_whole_file(mark_, "\n");
  }
  leave_note(finding, then);
  if (then == Then::exclude || then == Then::abort) end_process();
}

void Findings::allow_going_back(bool is_allowed) { may_go_back_ = is_allowed; }

bool Findings::is_tainted() {
  const runtime::MutexLock lock(mutex_);
  return tainted_.has_value();
}

void Findings::forgive() {
  const runtime::MutexLock lock(mutex_);
  tainted_.reset();
  unlink(mark_.c_str());
}

bool Findings::is_doomed() {
  const runtime::MutexLock lock(mutex_);
  return tainted_ && what_follows_without_checkpoint(*tainted_) != Then::go_on;
}

void Findings::give_up() {
  const runtime::MutexLock lock(mutex_);
  if (!tainted_) return;
  const Then then = what_follows_without_checkpoint(*tainted_);
  leave_note(*tainted_, then);
  if (then != Then::go_on) end_process();
  tainted_.reset();
}

const char* Findings::text_of(Then then) const {
  switch (then) {
    case Then::go_on:
      return "go_on";
    case Then::go_back:
      return "go_back";
    case Then::exclude:
      return setup_.has_stand_in ? "stand_in" : "exclude";
    case Then::abort:
      return "abort";
  }
  __builtin_unreachable();
}

Findings::Then Findings::what_follows(const Finding& finding) const {
  const Then then = what_follows_without_checkpoint(finding);
  const bool is_decided = finding.end == Finding::End::outvoted && then == Then::go_on;
  return may_go_back_ && !is_decided ? Then::go_back : then;
}

// What has come out of a collective was used by then whatever the method, and so were checkpoints.
Findings::Then Findings::what_follows_without_checkpoint(const Finding& finding) const {
  const bool is_own_wrong = (finding.wrong_planes >> setup_.replica & 1) != 0;
  if (finding.is_tainted || (is_own_wrong && !is_replaceable(finding))) return if_wrong();
  if (finding.end == Finding::End::outvoted) return Then::go_on;
  if (finding.end == Finding::End::lost && is_own_wrong) return if_wrong();
  if (newcomer_ >= 0) return newcomer_ == setup_.replica ? Then::exclude : Then::go_on;
  return if_undecided();
}

Findings::Then Findings::if_undecided() const {
  return setup_.on_corruption == OnCorruption::abort ? Then::abort : Then::go_on;
}

Findings::Then Findings::if_wrong() const {
  const bool is_alone = setup_.has_stand_in && !setup_.has_stand_in();
  return is_alone ? if_undecided() : Then::exclude;
}

void Findings::leave_note(const Finding& finding, Then then) {
  const Stream& stream = finding.name.stream;
  Json json;
  json.begin_object().key("of").string(shim::text_of(stream.of)).key("call").string(finding.call);
  json.key("sender").number(stream.sender).key("receiver").number(stream.receiver);
  json.key("tag").number(stream.tag);
  json.key("communicator").string(lineage_of(stream.communicator));
  json.key("number").number(static_cast<std::int64_t>(finding.name.number));
  json.key("bytes").number(static_cast<std::int64_t>(finding.bytes));
  const auto add_replicas = [&](const char* key, std::uint32_t planes) {
    json.key(key).begin_array();
    for (int replica = 0; replica < protocols::degree_max; ++replica)
      if ((planes >> replica & 1) != 0) json.number(replica);
    json.end_array();
  };
  add_replicas("wrong_replicas", finding.wrong_planes);
  add_replicas("absent_replicas", finding.absent_planes);
  json.key("tainted").boolean(finding.is_tainted);
  json.key("replaced")
      .boolean(finding.end == Finding::End::outvoted && then == Then::go_on &&
               is_replaceable(finding));
  // Others have the right data, whether or not this process could still get them.
  const bool is_own_loss = finding.end == Finding::End::lost &&
                           what_follows_without_checkpoint(finding) == Then::exclude;
  json.key("end").string(shim::text_of(is_own_loss ? Finding::End::outvoted : finding.end));
  json.key("then").string(text_of(then));
  json.key("rank").number(setup_.rank).key("replica").number(setup_.replica);
  json.key("found_ns").number(wall_clock_ns()).end_object();
  notes_.add("corrupted", json);
}

}  // namespace resprout::shim
