// See wire.hpp.
#include "runtime/member/wire.hpp"

#include <charconv>
#include <utility>

#include "runtime/member/tags.hpp"
#include "runtime/net/membership_bytes.hpp"

namespace resprout::runtime::member {
namespace {

class Writer : public ByteWriter {
 public:
  void text(const std::string& text, int bytes_of_length) {
    number(text.size(), bytes_of_length);
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  void address(const Address& address) {
    text(address.host, 1);
    number(address.port, 2);
  }
};

class Reader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  // Empty if there is not so much.
  std::string text(std::size_t bytes_of_length) {
    std::string text;
    for (std::uint64_t left = number(bytes_of_length); left > 0 && is_good(); --left)
      text += static_cast<char>(take());
    return text;
  }
  Address address() {
    Address address;
    address.host = text(1);
    address.port = static_cast<std::uint16_t>(number(2));
    return address;
  }
};

constexpr std::ptrdiff_t said_head_bytes = 1 + 8 + 8;

// Of identifiers that have no upper limit but that of their type.
class LocalWriter {
 public:
  explicit LocalWriter(Writer& writer) : writer_(&writer) {}
  void message(const LocalMachine::Message& message) {
    writer_->id(message.from);
    writer_->id(message.to);
    writer_->number(static_cast<std::uint64_t>(message.kind), 1);
    writer_->id(message.ballot.coordinator);
    writer_->number(static_cast<std::uint32_t>(message.ballot.attempt), 4);
    view(message.view);
    view(message.next);
    tally(message.reach);
    writer_->number(static_cast<std::uint64_t>(message.changes.size()), 1);
    for (const protocols::Change& change : message.changes) {
      writer_->id(change.id);
      writer_->number(change.what, 4);
    }
  }

 private:
  void tally(const protocols::Tally& tally) {
    writer_->number(tally.digest, 8);
    writer_->number(static_cast<std::uint64_t>(tally.count), 8);
  }
  void view(const protocols::LocalView& view) {
    writer_->number(view.epoch, 8);
    tally(view.members);
    writer_->id(view.root);
    writer_->number(static_cast<std::uint32_t>(view.limit), 4);
  }

  Writer* writer_;
};

class LocalReader {
 public:
  explicit LocalReader(Reader& reader) : reader_(&reader) {}
  bool message(LocalMachine::Message& message) {
    message.from = id();
    message.to = id();
    const std::uint64_t kind = reader_->number(1);
    if (kind > static_cast<std::uint64_t>(protocols::LocalKind::join)) return false;
    message.kind = static_cast<protocols::LocalKind>(kind);
    message.ballot.coordinator = id();
    message.ballot.attempt = number();
    view(message.view);
    view(message.next);
    tally(message.reach);
    const std::uint64_t changes = reader_->number(1);
    Rank last = no_rank;
    for (std::uint64_t i = 0; i < changes && is_good(); ++i) {
      const Rank about = id();
      const auto what = static_cast<std::uint32_t>(reader_->number(4));
      // In order, so that equal messages are equal bytes; and nothing of what is never said.
      if (about <= last || (what & ~said) != 0) return false;
      if (!message.changes.note(about, what)) return false;
      last = about;
    }
    return is_good() && message.from != no_rank && message.to != no_rank;
  }

 private:
  using Change = protocols::Change;
  static constexpr std::uint32_t said = Change::fenced | Change::dead | Change::sure |
                                        Change::removed | Change::joins | Change::added |
                                        Change::hole;

  bool is_good() const { return is_good_ && reader_->is_good(); }
  std::int32_t number() {
    const auto value = static_cast<std::int32_t>(reader_->number(4));
    if (value < 0) is_good_ = false;
    return value;
  }
  Rank id() {
    const auto value = static_cast<std::int32_t>(reader_->number(4));
    if (value < -1) is_good_ = false;
    return rank_at(value);
  }
  void tally(protocols::Tally& tally) {
    tally.digest = reader_->number(8);
    tally.count = static_cast<std::int64_t>(reader_->number(8));
  }
  void view(protocols::LocalView& view) {
    view.epoch = reader_->number(8);
    tally(view.members);
    view.root = id();
    view.limit = number();
  }

  Reader* reader_;
  bool is_good_ = true;
};

}  // namespace

std::string Address::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  Address address{text.substr(0, colon), 0};
  if (address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc{} || behind != end || address.host.size() > 45) return std::nullopt;
  return address;
}

Bytes encode(const Frame& frame) {
  Writer writer;
  writer.number(0, 4);
  writer.number(static_cast<std::uint64_t>(frame.kind), 1);
  switch (frame.kind) {
    case FrameKind::hello:
      writer.number(frame.incarnation, 8);
      writer.number(frame.meant, 8);
      writer.address(frame.address);
      break;
    case FrameKind::heartbeat:
      break;
    case FrameKind::join:
      writer.id(rank_at(frame.id));
      writer.number(frame.incarnation, 8);
      writer.address(frame.address);
      break;
    case FrameKind::redirect:
      writer.address(frame.address);
      break;
    case FrameKind::message:
      writer.number(frame.meant, 8);
      writer.number(static_cast<std::uint32_t>(frame.radix), 2);
      writer.message(frame.message);
      writer.number(frame.places.size(), 2);
      for (const auto& [id, place] : frame.places) {
        writer.id(rank_at(id));
        writer.number(place.incarnation, 8);
        writer.address(place.address);
      }
      break;
    case FrameKind::local_hello:
      writer.id(rank_at(frame.id));
      writer.number(frame.incarnation, 8);
      writer.number(frame.meant, 8);
      break;
    case FrameKind::local_message:
      LocalWriter(writer).message(frame.local);
      break;
    case FrameKind::said:
      writer.number(frame.meant, 8);
      writer.number(frame.epoch, 8);
      writer.bytes.insert(writer.bytes.end(), frame.data.begin(), frame.data.end());
      break;
    case FrameKind::tags:
      writer.number(frame.incarnation, 8);
      writer.address(frame.address);
      writer.text(frame.tags, 2);
      break;
    case FrameKind::leave:
      break;
  }
  const std::size_t length = writer.bytes.size() - 4;
  for (std::size_t i = 0; i < 4; ++i)
    writer.bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
  return writer.bytes;
}

std::optional<Frame> decode(std::span<const std::uint8_t> body) {
  Reader reader(body);
  Frame frame;
  frame.kind = static_cast<FrameKind>(reader.number(1));
  switch (frame.kind) {
    case FrameKind::hello:
      frame.incarnation = reader.number(8);
      frame.meant = reader.number(8);
      frame.address = reader.address();
      break;
    case FrameKind::heartbeat:
      break;
    case FrameKind::join:
      frame.id = index(reader.id());
      frame.incarnation = reader.number(8);
      frame.address = reader.address();
      break;
    case FrameKind::redirect:
      frame.address = reader.address();
      break;
    case FrameKind::message: {
      frame.meant = reader.number(8);
      frame.radix = static_cast<std::int32_t>(reader.number(2));
      if (!topology::RadixTree::is_radix(frame.radix)) return std::nullopt;
      if (!reader.message(frame.message)) return std::nullopt;
      const std::uint64_t places = reader.number(2);
      for (std::uint64_t i = 0; i < places && reader.is_good(); ++i) {
        const Rank id = reader.id();
        Place& place = frame.places[index(id)];
        place.incarnation = reader.number(8);
        place.address = reader.address();
      }
      break;
    }
    case FrameKind::local_hello:
      frame.id = static_cast<std::int32_t>(reader.number(4));
      if (frame.id < 0) return std::nullopt;
      frame.incarnation = reader.number(8);
      frame.meant = reader.number(8);
      break;
    case FrameKind::local_message:
      if (!LocalReader(reader).message(frame.local)) return std::nullopt;
      break;
    case FrameKind::said:
      frame.meant = reader.number(8);
      frame.epoch = reader.number(8);
      if (!reader.is_good() || body.size() > said_head_bytes + said_bytes_max) return std::nullopt;
      frame.data.assign(body.begin() + said_head_bytes, body.end());
      return frame;
    case FrameKind::tags:
      frame.incarnation = reader.number(8);
      frame.address = reader.address();
      frame.tags = reader.text(2);
      if (!parse_tags(frame.tags)) return std::nullopt;
      break;
    case FrameKind::leave:
      break;
    default:
      return std::nullopt;
  }
  if (!reader.is_at_end() || frame.places.contains(-1)) return std::nullopt;
  return frame;
}

std::optional<std::size_t> decode_all(std::span<const std::uint8_t> bytes,
                                      std::vector<Frame>& frames) {
  std::size_t used = 0;
  while (bytes.size() - used >= 4) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{bytes[used + i]} << (8 * i);
    if (length > frame_bytes_max) return std::nullopt;
    if (bytes.size() - used - 4 < length) break;
    auto frame = decode(bytes.subspan(used + 4, length));
    if (!frame) return std::nullopt;
    frames.push_back(std::move(*frame));
    used += 4 + length;
  }
  return used;
}

}  // namespace resprout::runtime::member
