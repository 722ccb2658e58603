#include "bench/peers/bare/frames.h"

#include <atomic>
#include <bit>
#include <stdexcept>

namespace peers::bare {
namespace {

static_assert(std::endian::native == std::endian::little, "the messages are written as they lie in memory");

constexpr std::size_t id_offset = 12, key_offset = 24;
constexpr std::uint8_t request_type = 0, reply_type = 1;
std::atomic<std::int64_t> pushed{0};  // by all connections

constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

void write_header(std::uint8_t* bytes, std::uint8_t type, std::size_t size) {
  const std::uint8_t start[] = {'G', 'I', 'O', 'P', 1, 2, 1, type};
  std::memcpy(bytes, start, sizeof start);
  const auto rest = static_cast<std::uint32_t>(size - header_size);
  std::memcpy(bytes + sizeof start, &rest, sizeof rest);
}

Operation operation_named(std::string_view name) {
  if (name == "ping") return Operation::ping;
  if (name == "push") return Operation::push;
  if (name == "pushed") return Operation::pushed;
  if (name == "echo") return Operation::echo;
  if (name == "put") return Operation::put;
  if (name == "get") return Operation::get;
  throw std::runtime_error("a request for an operation that is not known");
}

// Reads an encapsulation; every read is checked, since a reference is text from outside.
class Decoder {
 public:
  explicit Decoder(Octets bytes) : bytes_(bytes) {
    if (bytes.empty()) throw std::invalid_argument("a reference ends too early");
    is_swapped_ = bytes[0] == 0;
    position_ = 1;
  }
  std::uint32_t number() { return is_swapped_ ? __builtin_bswap32(raw<std::uint32_t>()) : raw<std::uint32_t>(); }
  std::uint16_t short_number() { return is_swapped_ ? __builtin_bswap16(raw<std::uint16_t>()) : raw<std::uint16_t>(); }
  void skip(std::size_t count) { (void)take(count); }
  Octets octets() { return take(number()); }
  std::string text() {
    const Octets all = octets();
    return {reinterpret_cast<const char*>(all.data()), all.empty() ? 0 : all.size() - 1};
  }

 private:
  template <typename Number>
  Number raw() {
    position_ = aligned(position_, sizeof(Number));
    return number_at<Number>(take(sizeof(Number)), 0);
  }
  Octets take(std::size_t count) {
    if (position_ > bytes_.size() || count > bytes_.size() - position_)
      throw std::invalid_argument("a reference ends too early");
    const Octets taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  Octets bytes_;
  std::size_t position_ = 0;
  bool is_swapped_ = false;
};

std::vector<std::uint8_t> bytes_of_ior(const std::string& ior) {
  if (!ior.starts_with("IOR:")) throw std::invalid_argument("a reference begins with IOR:, not as '" + ior + "' does");
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 4; i + 1 < ior.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(ior.substr(i, 2), nullptr, 16)));
  return bytes;
}

}  // namespace

std::string default_key() { return std::string("CL\x01", 3) + std::string(20, 'k'); }

Target target_of(const std::string& ior) {
  const auto bytes = bytes_of_ior(ior);
  Decoder reference(bytes);
  reference.skip(3);
  (void)reference.text();  // the type
  for (std::uint32_t profiles = reference.number(); profiles > 0; --profiles) {
    const std::uint32_t tag = reference.number();
    Decoder profile(reference.octets());
    if (tag != 0) continue;  // IIOP is 0
    profile.skip(2);
    Target target{.host = profile.text(), .port = profile.short_number(), .key = {}};
    const Octets key = profile.octets();
    target.key.assign(key.begin(), key.end());
    return target;
  }
  throw std::invalid_argument("the reference has no IIOP profile");
}

// ---- Requests

Request::Request(std::string_view operation, const std::string& key, bool is_oneway) {
  bytes_.resize(key_offset);
  bytes_[16] = is_oneway ? 0 : 3;
  append(static_cast<std::uint32_t>(key.size()));
  bytes_.insert(bytes_.end(), key.begin(), key.end());
  align(4);
  append(static_cast<std::uint32_t>(operation.size() + 1));
  bytes_.insert(bytes_.end(), operation.begin(), operation.end());
  bytes_.push_back(0);
  align(4);
  append(0);
  end_of_header_ = bytes_.size();
  align(8);
  bytes_.resize(bytes_.size() + 8);
}

std::span<const std::uint8_t> Request::with(std::int64_t value) {
  put_at(aligned(end_of_header_, 8), &value, sizeof value);
  return finish(aligned(end_of_header_, 8) + sizeof value, 0);
}

std::span<const std::uint8_t> Request::with(std::uint32_t value) {
  put_at(aligned(end_of_header_, 8), &value, sizeof value);
  return finish(aligned(end_of_header_, 8) + sizeof value, 0);
}

std::span<const std::uint8_t> Request::before(std::size_t octets) {
  const auto count = static_cast<std::uint32_t>(octets);
  put_at(aligned(end_of_header_, 8), &count, sizeof count);
  return finish(aligned(end_of_header_, 8) + sizeof count, octets);
}

std::span<const std::uint8_t> Request::alone() { return finish(end_of_header_, 0); }

std::span<const std::uint8_t> Request::finish(std::size_t size, std::size_t octets) {
  write_header(bytes_.data(), request_type, size + octets);
  ++id_;
  put_at(id_offset, &id_, sizeof id_);
  return {bytes_.data(), size};
}

void Request::put_at(std::size_t offset, const void* bytes, std::size_t count) {
  std::memcpy(bytes_.data() + offset, bytes, count);
}

void Request::append(std::uint32_t number) {
  align(4);
  bytes_.resize(bytes_.size() + sizeof number);
  put_at(bytes_.size() - sizeof number, &number, sizeof number);
}

void Request::align(std::size_t alignment) { bytes_.resize(aligned(bytes_.size(), alignment)); }

// ---- Messages that came

std::optional<std::size_t> size_of(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < header_size) return std::nullopt;
  return header_size + number_at<std::uint32_t>(bytes, 8);
}

Received received(std::span<const std::uint8_t> message) {
  const auto check = [&](std::size_t end) {
    if (end > message.size()) throw std::runtime_error("a request ends too early");
  };
  check(key_offset + 4);
  const std::size_t name_offset = aligned(key_offset + 4 + number_at<std::uint32_t>(message, key_offset), 4);
  check(name_offset + 4);
  const std::size_t name_size = number_at<std::uint32_t>(message, name_offset);
  const std::size_t contexts = aligned(name_offset + 4 + name_size, 4);
  check(contexts + 4);
  const auto* name = reinterpret_cast<const char*>(message.data() + name_offset + 4);
  Received result{.operation = operation_named({name, name_size - 1}),
                  .id = number_at<std::uint32_t>(message, id_offset),
                  .arguments = {}};
  const std::size_t arguments = aligned(contexts + 4, 8);
  if (arguments < message.size()) result.arguments = message.subspan(arguments);
  return result;
}

// ---- Replies

ReplyHead::ReplyHead(std::uint32_t id, std::size_t octets_after) : bytes{} {
  if (octets_after > 0) {
    const auto count = static_cast<std::uint32_t>(octets_after);
    std::memcpy(bytes + result_offset, &count, sizeof count);
    size += sizeof count;
  }
  write_header(bytes, reply_type, size + octets_after);
  std::memcpy(bytes + id_offset, &id, sizeof id);
}

ReplyHead::ReplyHead(std::uint32_t id, std::int64_t result) : bytes{} {
  std::memcpy(bytes + result_offset, &result, sizeof result);
  size += sizeof result;
  write_header(bytes, reply_type, size);
  std::memcpy(bytes + id_offset, &id, sizeof id);
}

std::optional<Answer> EchoService::serve(const Received& request) {
  const std::uint32_t id = request.id;
  switch (request.operation) {
    case Operation::ping:
      return Answer{ReplyHead(id, number_at<std::int64_t>(request.arguments, 0) + 1), {}};
    case Operation::push:
      pushed.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number and nothing else
      return std::nullopt;
    case Operation::pushed:
      return Answer{ReplyHead(id, pushed.load(std::memory_order_relaxed)), {}};  // relaxed: as above
    case Operation::echo: {
      const Octets octets = octets_in(request.arguments);
      return Answer{ReplyHead(id, octets.size()), octets};
    }
    case Operation::put: {
      const Octets octets = octets_in(request.arguments);
      check_octets(octets, octets.size());
      return Answer{ReplyHead(id, std::size_t{0}), {}};
    }
    case Operation::get: {
      const std::size_t size = number_at<std::uint32_t>(request.arguments, 0);
      if (result_.size() != size) {
        result_.assign(size, 0x5a);
        if (size > 0) result_.back() = last_octet(size);
      }
      return Answer{ReplyHead(id, size), result_};
    }
  }
  return std::nullopt;
}

Octets result_of(std::span<const std::uint8_t> reply) {
  if (reply.size() < result_offset || reply[7] != reply_type) throw std::runtime_error("what came is no reply");
  if (const auto status = number_at<std::uint32_t>(reply, 16); status != 0)
    throw std::runtime_error("the server raised an exception (reply status " + std::to_string(status) + ")");
  return reply.subspan(result_offset);
}

Octets octets_in(Octets encoded) {
  if (encoded.size() < 4 || encoded.size() - 4 < number_at<std::uint32_t>(encoded, 0))
    throw std::runtime_error("a sequence ends too early");
  return encoded.subspan(4, number_at<std::uint32_t>(encoded, 0));
}

}  // namespace peers::bare
