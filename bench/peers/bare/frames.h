// The GIOP 1.2 messages that Corelane's client and server exchange for the operations of echo.idl, byte for byte, and
// the parts of a reference that a client needs. The bare peers send them over sockets and rings without an ORB. They
// are real requests, so a bare client can also call a server of Corelane or omniORB.
//
// Offsets in a request, little-endian:
//   0   "GIOP" 1 2, flags 1, type 0, u32 bytes after this header        12  u32 request id
//   16  response flags (3: a reply is expected, 0: oneway), 3 x 0       20  u16 0 (addressed by key), 2 x 0
//   24  u32 length of the key, the key; then, aligned to 4, u32 length of the operation's name, the name, 0;
//       then, aligned to 4, u32 0 (no service contexts); then, aligned to 8, the arguments, where there are any
// A ping with the key of 23 octets that Corelane makes takes 80 bytes, and its reply 32:
//   0   the header with type 1     12  u32 request id     16  u32 status, 0     20  u32 0     24  the result
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peers/driver/caller.h"

namespace peers::bare {

inline constexpr std::size_t header_size = 12;
inline constexpr std::size_t result_offset = 24;

// Returns a key as long as Corelane's; the bare server ignores the key.
std::string default_key();

// The parts of an IOR.
struct Target {
  std::string host;  // empty if the server is reached in another way
  std::uint16_t port = 0;
  std::string key;
};
Target target_of(const std::string& ior);  // throws std::invalid_argument

// A request. Its octets, if it has any, follow its head in the caller's memory: nothing is copied.
class Request {
 public:
  // The operation without arguments, with one long long (ping), one unsigned long (get) or octets.
  Request(std::string_view operation, const std::string& key, bool is_oneway);

  std::span<const std::uint8_t> with(std::int64_t value);
  std::span<const std::uint8_t> with(std::uint32_t value);
  std::span<const std::uint8_t> before(std::size_t octets);  // `octets`: how many follow
  std::span<const std::uint8_t> alone();

 private:
  std::span<const std::uint8_t> finish(std::size_t size, std::size_t octets);
  void put_at(std::size_t offset, const void* bytes, std::size_t count);
  void append(std::uint32_t number);
  void align(std::size_t alignment);

  std::vector<std::uint8_t> bytes_;
  std::size_t end_of_header_ = 0;  // without the padding before the arguments
  std::uint32_t id_ = 0;
};

// Returns the size of the whole message that begins here; nothing if its header is incomplete.
std::optional<std::size_t> size_of(std::span<const std::uint8_t> bytes);

enum class Operation { ping, push, pushed, echo, put, get };

// A complete request of the operations above.
struct Received {
  Operation operation{};
  std::uint32_t id = 0;
  Octets arguments;
};
Received received(std::span<const std::uint8_t> message);  // throws std::runtime_error

// The head of a reply up to its result.
struct ReplyHead {
  std::uint8_t bytes[result_offset + 8];
  std::size_t size = result_offset;

  ReplyHead(std::uint32_t id, std::size_t octets_after);
  ReplyHead(std::uint32_t id, std::int64_t result);
};

// Serves the operations, independent of the transport.
struct Answer {
  ReplyHead head;
  Octets octets;  // after the head
};
class EchoService {
 public:
  // Returns nothing after a oneway. The octets refer to the arguments or to this service.
  std::optional<Answer> serve(const Received& request);

 private:
  std::vector<std::uint8_t> result_;
};

// Returns the result of a reply; raises the exception that the server raised.
Octets result_of(std::span<const std::uint8_t> reply);
// Returns the octets of a result that is a sequence.
Octets octets_in(Octets encoded);

template <typename Number>
Number number_at(Octets bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace peers::bare
