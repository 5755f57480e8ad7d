#include "runtime/replicas/recall.hpp"

#include <algorithm>
#include <cstring>

#include "core/invariant.hpp"

namespace resprout::runtime {

Recall::Recall(const Setup& setup, ChannelNetwork& network)
    : setup_(setup),
      network_(network),
      alive_(static_cast<std::size_t>(setup.planes * setup.ranks), true),
      arrived_(static_cast<std::size_t>(setup.planes)),
      ask_at_(setup.kept_bytes) {}

void Recall::keep(const MessageName& name, std::span<const std::byte> bytes,
                  std::span<const std::int32_t> readers) {
  spoken_.keep(name, bytes, readers);
  led_.erase(name);
  if (const auto waiting = parked_.extract(name); !waiting.empty())
    for (const Replica reader : waiting.mapped()) say(reader, Kind::item, name, bytes);
  if (name.stream.of == Stream::Of::messages)
    for (const Replica listener : listeners_)
      if (listener.rank == name.stream.receiver) say_headline(listener, name, bytes.size());
  if (spoken_.bytes() >= ask_at_) ask_how_far();
}

void Recall::lead(const MessageName& name) {
  RESPROUT_INVARIANT(name.stream.of == Stream::Of::results);
  led_[name] = true;
  const auto waiting = parked_.find(name);
  if (waiting == parked_.end()) return;
  std::erase_if(waiting->second, [&](Replica reader) {
    const bool is_refused = reader.plane < setup_.self.plane;
    if (is_refused) say(reader, Kind::refusal, name);
    return is_refused;
  });
}

const std::vector<std::byte>& Recall::said(const MessageName& name) const {
  const auto* bytes = spoken_.find(name);
  RESPROUT_INVARIANT(bytes != nullptr);
  return *bytes;
}

void Recall::note_received(const Stream& stream, std::uint64_t number) {
  std::uint64_t& known = received_[stream];
  known = std::max(known, number);
}

void Recall::note_collective(std::uint64_t communicator, std::uint64_t number) {
  std::uint64_t& known = collectives_[communicator];
  known = std::max(known, number);
}

void Recall::ask(const MessageName& name, std::int32_t whose) {
  const auto [at, is_new] = questions_.try_emplace(name);
  if (!is_new) return;
  at->second.whose = whose;
  ask_next(name, at->second);
}

Recall::Answer Recall::take(const MessageName& name, std::vector<std::byte>& bytes,
                            bool* is_of_own_plane) {
  const auto at = questions_.find(name);
  RESPROUT_INVARIANT(at != questions_.end());
  const Answer answer = at->second.answer;
  if (answer == Answer::none) return answer;
  bytes = std::move(at->second.bytes);
  if (is_of_own_plane != nullptr) *is_of_own_plane = at->second.is_of_own_plane;
  questions_.erase(at);
  return answer;
}

// Those of its own plane first, who are about as far; then from the lowest plane on, each once.
std::optional<Replica> Recall::next_to_ask(const Question& question) const {
  const std::int32_t own = setup_.self.plane;
  const auto place = [&](std::int32_t plane) { return plane == own ? -1 : plane; };
  std::optional<Replica> best;
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane) {
    const Replica replica{plane, question.whose};
    const bool is_behind = question.asked && place(plane) <= place(question.asked->plane);
    if (is_behind || replica == setup_.self || !is_alive(replica)) continue;
    if (!best || place(plane) < place(best->plane)) best = replica;
  }
  return best;
}

void Recall::ask_next(const MessageName& name, Question& question) {
  question.asked = next_to_ask(question);
  if (question.asked) {
    say(*question.asked, Kind::ask, name);
  } else {
    question.answer = question.was_refused ? Answer::refused : Answer::hopeless;
  }
}

void Recall::handle(Replica from, std::span<const std::byte> frame) {
  Head head;
  if (frame.size() < sizeof head) return;
  std::memcpy(&head, frame.data(), sizeof head);
  if (!is_alive(from)) return;
  switch (head.kind) {
    case Kind::ask:
      answer_or_park(head.name, from);
      break;
    case Kind::item:
    case Kind::refusal:
      handle_answer(head, from, frame.subspan(sizeof head));
      break;
    case Kind::how_far:
      say(from, Kind::so_far, {head.name.stream, far_in(head.name.stream)});
      break;
    case Kind::so_far:
      handle_so_far(head, from);
      break;
    case Kind::listen:
      tell_all(from);
      break;
    case Kind::headline:
      handle_headline(head.name, from, frame.subspan(sizeof head));
      break;
    case Kind::arrival:
      arrived_[static_cast<std::size_t>(from.plane)] = true;
      break;
  }
}

void Recall::answer_or_park(const MessageName& name, Replica from) {
  if (const auto* bytes = spoken_.find(name)) {
    say(from, Kind::item, name, *bytes);
  } else if (led_.contains(name) && from.plane < setup_.self.plane) {
    say(from, Kind::refusal, name);
  } else {
    parked_[name].push_back(from);
  }
}

void Recall::handle_answer(const Head& head, Replica from, std::span<const std::byte> bytes) {
  const auto at = questions_.find(head.name);
  if (at == questions_.end() || at->second.asked != from) return;
  Question& question = at->second;
  if (head.kind == Kind::refusal) {
    question.was_refused = true;
    ask_next(head.name, question);
    return;
  }
  question.bytes.assign(bytes.begin(), bytes.end());
  question.answer = Answer::here;
  question.is_of_own_plane = from.plane == setup_.self.plane;
  question.asked.reset();
}

void Recall::lose(Replica replica) {
  if (!is_alive(replica)) return;
  alive_[number_of(replica)] = false;
  for (auto& [name, waiting] : parked_) std::erase(waiting, replica);
  std::erase(listeners_, replica);
  for (auto& [whose, listening] : listening_)
    if (listening.to == replica) listen_to_next(whose, listening);
  for (auto& [name, question] : questions_)
    if (question.asked == replica) ask_next(name, question);
  forget_all_possible();
}

void Recall::arrive() {
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
    if (const Replica other{plane, setup_.self.rank}; other != setup_.self && is_alive(other))
      say(other, Kind::arrival, {});
}

bool Recall::have_all_arrived() const {
  for (std::int32_t plane = 0; plane < setup_.planes; ++plane) {
    const Replica other{plane, setup_.self.rank};
    if (other != setup_.self && is_alive(other) && !arrived_[static_cast<std::size_t>(plane)])
      return false;
  }
  return true;
}

// --- what there is to receive
// ---------------------------------------------------------------------------------

void Recall::listen_to(std::int32_t whose) {
  const auto [at, is_new] = listening_.try_emplace(whose);
  if (is_new) listen_to_next(whose, at->second);
}

// In another plane: in this one it is lost.
void Recall::listen_to_next(std::int32_t whose, Listening& listening) {
  listening.to.reset();
  for (std::int32_t plane = 0; plane < setup_.planes && !listening.to; ++plane)
    if (const Replica replica{plane, whose}; plane != setup_.self.plane && is_alive(replica))
      listening.to = replica;
  if (listening.to) say(*listening.to, Kind::listen, {});
}

void Recall::tell_all(Replica listener) {
  if (std::ranges::find(listeners_, listener) == listeners_.end()) listeners_.push_back(listener);
  for (const auto& [name, bytes] : spoken_.messages_to(listener.rank))
    say_headline(listener, name, bytes);
}

void Recall::say_headline(Replica to, const MessageName& name, std::size_t bytes) {
  const std::uint64_t size = bytes;
  say(to, Kind::headline, name, std::as_bytes(std::span(&size, 1)));
}

// Another one than before begins anew, and may not have come as far.
void Recall::handle_headline(const MessageName& name, Replica from,
                             std::span<const std::byte> bytes) {
  const auto at = listening_.find(from.rank);
  std::uint64_t size = 0;
  if (at == listening_.end() || at->second.to != from || bytes.size() != sizeof size) return;
  std::uint64_t& last = at->second.last[name.stream];
  if (name.number <= last) return;
  last = name.number;
  std::memcpy(&size, bytes.data(), sizeof size);
  at->second.heard.push_back({name, size});
}

std::optional<Recall::Headline> Recall::first_heard(
    std::int32_t whose, std::uint64_t communicator, std::int32_t tag,
    const std::function<std::uint64_t(const Stream&)>& taken) {
  const auto at = listening_.find(whose);
  if (at == listening_.end()) return std::nullopt;
  auto& heard = at->second.heard;
  std::erase_if(heard, [&](const Headline& it) { return it.name.number <= taken(it.name.stream); });
  const auto first = std::ranges::find_if(heard, [&](const Headline& it) {
    const Stream& stream = it.name.stream;
    return stream.communicator == communicator &&
           (tag == ReceivedStreams::any || stream.tag == tag);
  });
  return first == heard.end() ? std::nullopt : std::optional(*first);
}

// --- forgetting
// ---------------------------------------------------------------------------------

std::uint64_t Recall::far_in(const Stream& stream) const {
  if (stream.of == Stream::Of::messages) {
    const auto at = received_.find(stream);
    return at == received_.end() ? 0 : at->second;
  }
  const auto at = collectives_.find(stream.communicator);
  return at == collectives_.end() ? 0 : at->second;
}

// Again when there is as much more as could not be forgotten.
void Recall::ask_how_far() {
  spoken_.for_each_stream([&](const Stream& stream, std::span<const std::int32_t> readers) {
    for (const std::int32_t rank : readers)
      for (std::int32_t plane = 0; plane < setup_.planes; ++plane)
        if (const Replica reader{plane, rank}; reader != setup_.self && is_alive(reader))
          say(reader, Kind::how_far, {stream, 0});
  });
  ask_at_ = spoken_.bytes() + setup_.kept_bytes;
}

void Recall::handle_so_far(const Head& head, Replica from) {
  const Stream& stream = head.name.stream;
  far_[stream][from] = head.name.number;
  std::vector<std::int32_t> readers;
  spoken_.for_each_stream([&](const Stream& kept, std::span<const std::int32_t> of) {
    if (kept == stream) readers.assign(of.begin(), of.end());
  });
  if (!readers.empty()) forget_if_all_have(stream, readers);
}

// Whoever lacked it may be gone.
void Recall::forget_all_possible() {
  std::vector<std::pair<Stream, std::vector<std::int32_t>>> asked;
  spoken_.for_each_stream([&](const Stream& stream, std::span<const std::int32_t> readers) {
    if (far_.contains(stream))
      asked.emplace_back(stream, std::vector(readers.begin(), readers.end()));
  });
  for (const auto& [stream, readers] : asked) forget_if_all_have(stream, readers);
}

void Recall::forget_if_all_have(const Stream& stream, std::span<const std::int32_t> readers) {
  const auto& far = far_[stream];
  std::uint64_t least = UINT64_MAX;
  for (const std::int32_t rank : readers)
    for (std::int32_t plane = 0; plane < setup_.planes; ++plane) {
      const Replica reader{plane, rank};
      if (!is_alive(reader)) continue;
      const auto known = far.find(reader);
      const std::uint64_t has = reader == setup_.self ? far_in(stream)
                                : known == far.end()  ? 0
                                                      : known->second;
      least = std::min(least, has);
    }
  if (least != UINT64_MAX) spoken_.forget(stream, least);
  ask_at_ = std::min(ask_at_, spoken_.bytes() + setup_.kept_bytes);
}

void Recall::say(Replica to, Kind kind, const MessageName& name, std::span<const std::byte> bytes) {
  const Head head{name, kind};
  std::vector<std::byte> frame(sizeof head + bytes.size());
  std::memcpy(frame.data(), &head, sizeof head);
  if (!bytes.empty()) std::memcpy(frame.data() + sizeof head, bytes.data(), bytes.size());
  network_.send(to, Channel::recalls, frame);
}

}  // namespace resprout::runtime
