// What a peer's client program gives to the driver: ways to call the echo server of that peer.
//
// Every peer serves the same operations (echo.idl), so rows differ in nothing but the peer. The driver makes the calls
// through these virtual functions; that costs each peer the same 2 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace peers {

using Octets = std::span<const std::uint8_t>;

struct Unsupported : std::logic_error {
  explicit Unsupported(const std::string& operation) : std::logic_error("this peer has no operation " + operation) {}
};

// A way to call the server. Thread: the one that made it. A failed call throws something derived from std::exception.
class Caller {
 public:
  virtual ~Caller() = default;

  virtual std::int64_t ping(std::int64_t value) = 0;  // returns value + 1

  // Oneway. Returns before the server has run it.
  virtual void push(Octets) { throw Unsupported("push"); }
  // Returns how many pushes the server has run, of all clients.
  virtual std::int64_t pushed() { throw Unsupported("pushed"); }

  // The octets that these return are valid until the next call.
  virtual Octets echo(Octets) { throw Unsupported("echo"); }
  virtual Octets get(std::size_t) { throw Unsupported("get"); }
  virtual void put(Octets) { throw Unsupported("put"); }
};

class Peer {
 public:
  virtual ~Peer() = default;

  // Returns a caller for the calling thread. Peers whose connections belong to callers open one; peers that pool their
  // connections share them. Thread: any, several at the same time.
  virtual std::unique_ptr<Caller> connect() = 0;
};

// Returns the value of the last octet of a message; both ends check it.
constexpr std::uint8_t last_octet(std::size_t size) { return static_cast<std::uint8_t>(size * 7 + 3); }

inline void check_octets(Octets octets, std::size_t size) {
  if (octets.size() != size || (size > 0 && octets.back() != last_octet(size)))
    throw std::runtime_error("wrong octets came back: " + std::to_string(octets.size()) + " of " +
                             std::to_string(size));
}

}  // namespace peers
