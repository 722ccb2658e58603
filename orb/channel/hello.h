// What is said over the Unix socket (SOCK_SEQPACKET, one packet each) when a channel is set up:
//
//   connector                               acceptor
//   Hello, region, sleep page, events  ──▶  checks credentials, then what came
//                                      ◀──  Hello, region, events          or Refusal, and hangs up
//   checks
//   Ready                              ──▶                                  or Refusal, and hangs up
//                                      ◀──  Ready, if both know confirmation, or Refusal, and hangs up
//
// The layouts are part of the ABI of docs/channel.md: host order, no holes, what is spare is 0.
// Threads: none; values, and functions of the caller's own socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/fault.h"
#include "orb/channel/layout.h"
#include "orb/os/fd.h"
#include "orb/os/passed_descriptors.h"

namespace corelane::channel {

inline constexpr std::uint64_t hello_magic = 0x314c'4e41'4843'4c43;  // "CLCHANL1" in memory, little-endian

enum class PacketKind : std::uint32_t { hello = 1, ready = 2, refusal = 3 };

// Feature bits. A bit that this version does not know may be offered, not required.
inline constexpr std::uint64_t feature_loans = 1;      // records of kind loan may come, and are returned
inline constexpr std::uint64_t feature_far_sleep = 2;  // who waits for a record may be woken by a packet on the socket
inline constexpr std::uint64_t feature_confirmation = 4;  // the acceptor answers Ready, which may have come too late
// Offered: this end reads a region whose chunks have memory only while they are lent. Required: its own is one.
inline constexpr std::uint64_t feature_growth = 8;
inline constexpr std::uint64_t feature_near_sleep = 16;  // who is woken by an eventfd may first sleep at its word
inline constexpr std::uint64_t known_features =
    feature_loans | feature_far_sleep | feature_confirmation | feature_growth | feature_near_sleep;

struct Hello {
  std::uint64_t magic = hello_magic;
  std::uint32_t kind = static_cast<std::uint32_t>(PacketKind::hello);
  std::uint16_t lowest_version = abi_version;  // of the ABI, that this end speaks
  std::uint16_t highest_version = abi_version;
  std::uint64_t offered = known_features;
  std::uint64_t required = 0;
  std::uint64_t channel = 0;  // random, the connector's; the acceptor says it again
  std::uint32_t wake = 0;     // Wake
  std::uint32_t signal = 0;
  std::int32_t process = 0;  // as this end's namespace numbers it
  std::uint32_t slots = 0;   // Shape
  std::uint32_t chunks = 0;
  std::uint32_t chunk_size = 0;
  std::uint64_t start_ticks = 0;  // when that process began, field 22 of /proc/<pid>/stat; 0: unknown
  std::uint32_t descriptors = 0;  // that come with this packet
  std::uint32_t spare = 0;
  std::uint64_t spares[4] = {};
};
static_assert(sizeof(Hello) == 112 && offsetof(Hello, offered) == 16 && offsetof(Hello, channel) == 32 &&
              offsetof(Hello, wake) == 40 && offsetof(Hello, slots) == 52 && offsetof(Hello, start_ticks) == 64 &&
              offsetof(Hello, descriptors) == 72 && offsetof(Hello, spares) == 80);

struct Refusal {
  std::uint64_t magic = hello_magic;
  std::uint32_t kind = static_cast<std::uint32_t>(PacketKind::refusal);
  std::uint32_t length = 0;
  char text[240] = {};  // not terminated
};
static_assert(sizeof(Refusal) == 256);

struct Ready {
  std::uint64_t magic = hello_magic;
  std::uint32_t kind = static_cast<std::uint32_t>(PacketKind::ready);
  std::uint32_t spare = 0;
};
static_assert(sizeof(Ready) == 16);

// Descriptors that a Hello carries, in this order: the sender's region, the sleep page (the connector's alone), and
// with Wake::eventfd two that take 8 bytes for a wake-up (a record is there; there is room): pipes, or eventfds.
inline constexpr std::size_t most_descriptors = 4;

// The descriptors of a packet. What is not taken out is closed by another thread (orb/os/passed_descriptors.h).
class Passed {
 public:
  Passed() = default;
  Passed(Passed&& other) noexcept = default;
  Passed& operator=(Passed&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Passed() {
    for (os::Fd& each : all_) os::close_elsewhere(std::move(each));
  }

  void add(os::Fd descriptor) noexcept {
    if (count_ < all_.size())
      all_[count_++] = std::move(descriptor);
    else
      os::close_elsewhere(std::move(descriptor));
  }
  std::size_t size() const noexcept { return count_; }
  const os::Fd& operator[](std::size_t index) const noexcept { return all_[index]; }
  // What may be closed by any thread.
  os::Fd take(std::size_t index) noexcept { return std::move(all_[index]); }

 private:
  std::array<os::Fd, most_descriptors> all_;
  std::size_t count_ = 0;
};

struct Packet {
  std::array<std::byte, 256> bytes{};
  std::size_t size = 0;
  Passed descriptors{};
};

// Until the socket is readable or has failed; false at the deadline, whatever signals come.
bool wait_readable(int socket, Time deadline) noexcept;

// Neither blocks longer than until `deadline`. refused: the peer said so; bad_peer: it hung up, or sent what is no
// packet of ours, which then stays in the socket: that is to be closed by os::close_socket().
Expected<void, SetupFault> send_packet(const os::Fd& socket, const void* bytes, std::size_t size,
                                       const std::vector<int>& descriptors);
Expected<Packet, SetupFault> receive_packet(const os::Fd& socket, Time deadline);
void send_refusal(const os::Fd& socket, const std::string& text) noexcept;

// The packet as a hello; refused when it is a Refusal; bad_peer or incompatible for any other.
Expected<Hello, SetupFault> as_hello(const Packet& packet);
Expected<void, SetupFault> as_ready(const Packet& packet);
// Whether this end can work with that one.
Expected<void, SetupFault> check(const Hello& mine, const Hello& theirs);

}  // namespace corelane::channel
