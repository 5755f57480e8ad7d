// What a process has said, by its names: kept for those whom the loss of another one denies it.
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/replicas/streams.hpp"

namespace resprout::runtime {

class Spoken {
 public:
  // `readers`: the ranks whose replicas may ask for it; the same for all of a stream.
  // REQUIRES: numbers of a stream ascend.
  void keep(const MessageName& name, std::span<const std::byte> bytes,
            std::span<const std::int32_t> readers) {
    Kept& kept = streams_[name.stream];
    if (kept.readers.empty()) kept.readers.assign(readers.begin(), readers.end());
    kept.items.emplace_hint(kept.items.end(), name.number,
                            Item{++said_, {bytes.begin(), bytes.end()}});
    bytes_ += cost_of(bytes.size());
  }

  // Null: it is not there, or not any more. Valid until the next call that changes something.
  const std::vector<std::byte>* find(const MessageName& name) const {
    const auto stream = streams_.find(name.stream);
    if (stream == streams_.end()) return nullptr;
    const auto item = stream->second.items.find(name.number);
    return item == stream->second.items.end() ? nullptr : &item->second.bytes;
  }

  // Nobody asks for what the stream has up to this number.
  void forget(const Stream& stream, std::uint64_t up_to) {
    const auto known = streams_.find(stream);
    if (known == streams_.end()) return;
    auto& items = known->second.items;
    while (!items.empty() && items.begin()->first <= up_to) {
      bytes_ -= cost_of(items.begin()->second.bytes.size());
      items.erase(items.begin());
    }
  }

  // `visit(stream, readers)` for each stream of which something is kept.
  template <typename Visit>
  void for_each_stream(const Visit& visit) const {
    for (const auto& [stream, kept] : streams_)
      if (!kept.items.empty()) visit(stream, kept.readers);
  }

  // Names and sizes of the messages to this rank, as they were said.
  std::vector<std::pair<MessageName, std::size_t>> messages_to(std::int32_t receiver) const {
    std::map<std::uint64_t, std::pair<MessageName, std::size_t>> in_order;
    for (const auto& [stream, kept] : streams_)
      if (stream.of == Stream::Of::messages && stream.receiver == receiver)
        for (const auto& [number, item] : kept.items)
          in_order[item.order] = {{stream, number}, item.bytes.size()};
    std::vector<std::pair<MessageName, std::size_t>> messages;
    for (const auto& [order, message] : in_order) messages.push_back(message);
    return messages;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Item {
    std::uint64_t order;  // among all that was said
    std::vector<std::byte> bytes;
  };
  struct Kept {
    std::map<std::uint64_t, Item> items;
    std::vector<std::int32_t> readers;
  };
  // With what the allocator and the tree add.
  static std::size_t cost_of(std::size_t bytes) { return bytes + 96; }

  std::unordered_map<Stream, Kept, StreamHash> streams_;
  std::size_t bytes_ = 0;
  std::uint64_t said_ = 0;
};

}  // namespace resprout::runtime
