// For tests: one machine, told by hand what the others say. It keeps what the machine asks for and
// writes down what it says and sends, in words.
// Thread rule: none.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/protocol.hpp"

namespace resprout::protocols::testing {

template <Machine M>
class OneProcess {
 public:
  template <typename Config>
  OneProcess(const Config& config, int self, const std::vector<int>& suspects = {})
      : machine_(config, rank_at(self)), self_(self) {
    for (int rank : suspects) suspects_.push_back(rank_at(rank));
    machine_.start(context());
    drain();
  }

  void hear(MessageKind kind, int from, int round = 0, int tag = 0, Slot slot = Slot::input) {
    Message message{.from = rank_at(from), .to = rank_at(self_), .kind = kind, .slot = slot};
    message.round = static_cast<std::uint32_t>(round);
    message.tag = static_cast<std::uint16_t>(tag);
    if (machine_.handle_message(context(), message) == Disposition::keep)
      mailbox_.push_back(message);
    drain();
  }
  void contribution(int from, int round, int decision = 0) {
    hear(MessageKind::contribution, from, round, decision);
  }
  void result(int from, int round) { hear(MessageKind::result, from, round); }

  // What a driver says to this kind of machine only: call(machine, context).
  template <typename Call>
  void tell(Call call) {
    call(machine_, context());
    drain();
  }

  void suspect(int rank) {
    add_suspect(rank_at(rank));
    drain();
  }

  // Lets the machine's deadline come. False if it has none.
  bool wake() {
    const Time at = machine_.poll_timeout(context()).at;
    if (at == never) return false;
    now_ = std::max(now_, at);
    machine_.handle_timeout(context());
    drain();
    return true;
  }

  Time now() const { return now_; }

  // What has been said and sent since the last time, e.g. "combine:1 contribution>0/accumulator".
  std::string said() {
    static constexpr const char* kinds[] = {
        "tree",   "correction", "pull",           "supply",    "contribution",
        "result", "heartbeat",  "acknowledgment", "keepalive", "revocation"};
    static constexpr const char* slots[] = {"none", "input", "accumulator", "result"};
    while (const auto message = machine_.poll_send(context())) {
      say(std::string(kinds[static_cast<int>(message->kind)]) + ">", index(message->to));
      log_ += std::string("/") + slots[static_cast<int>(message->slot)];
      if (message->tag != 0) log_ += "#" + std::to_string(message->tag - 1);
    }
    return std::exchange(log_, "");
  }

 private:
  Context context() {
    contacts_.begin = places_.data();
    contacts_.capacity = static_cast<std::uint32_t>(places_.size());
    return {now_,
            {suspects_.data(), static_cast<std::uint32_t>(suspects_.size())},
            {mailbox_.data(), static_cast<std::uint32_t>(mailbox_.size())},
            &contacts_};
  }

  void drain() {
    static constexpr const char* names[] = {
        "colored:", "combine:", "adopt:",   "restart@", "exclude:",
        "deliver:", "fail:",    "suspect:", "revoked:"};
    while (const auto event = machine_.poll_event(context())) {
      const bool is_restart = event->kind == EventKind::restart;
      const int round = static_cast<int>(event->subject.round);
      say(names[static_cast<int>(event->kind)], is_restart ? round : index(event->subject.from));
      if (event->kind == EventKind::suspect) add_suspect(event->subject.from);
    }
  }

  void add_suspect(Rank rank) {
    suspects_.push_back(rank);
    std::sort(suspects_.begin(), suspects_.end());
    machine_.handle_suspicion(context(), rank);
  }

  void say(const std::string& word, int number) {
    log_ += (log_.empty() ? "" : " ") + word + std::to_string(number);
  }

  M machine_;
  int self_;
  Time now_{0};
  std::vector<Rank> suspects_;
  std::vector<Message> mailbox_;
  std::array<Contact, 64> places_{};
  Contacts contacts_;
  std::string log_;
};

}  // namespace resprout::protocols::testing
