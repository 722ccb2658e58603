// Hello, Refusal and Ready are the packets that two ends exchange when a channel is set up. They go over a Unix socket
// (SOCK_SEQPACKET), one packet each:
//   connector                               acceptor
//   Hello, region, sleep page, events  ──▶  checks credentials, then what came
//                                      ◀──  Hello, region, events          or Refusal, and hangs up
//   checks
//   Ready                              ──▶                                  or Refusal, and hangs up
//                                      ◀──  Ready, if both know confirmation, or Refusal, and hangs up
// The layouts are part of the ABI of docs/channel.md: host byte order, no holes, spare fields are 0.
// Threads: none; values, and functions on the caller's own socket.
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
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::channel {

inline constexpr std::uint64_t hello_magic = 0x314c'4e41'4843'4c43;  // "CLCHANL1" in memory, little-endian

enum class PacketKind : std::uint32_t { hello = 1, ready = 2, refusal = 3 };

// Feature bits. An end may offer a bit that this version does not know, but not require it.
inline constexpr std::uint64_t feature_loans = 1;  // records of kind loan may come; their chunks are returned
// A thread that waits for a record may be woken by a packet on the socket.
inline constexpr std::uint64_t feature_far_sleep = 2;
// The acceptor confirms the connector's Ready, which may have come too late.
inline constexpr std::uint64_t feature_confirmation = 4;
// Offered: this end can read a region whose chunks have memory only while they are lent. Required: its own region is
// one.
inline constexpr std::uint64_t feature_growth = 8;
// An end that is woken by an eventfd may first sleep at its word.
inline constexpr std::uint64_t feature_near_sleep = 16;
// Records of kind growing may come. Only ends of one user offer it, because a thread that reads such a message waits
// for its writer.
inline constexpr std::uint64_t feature_growing_loans = 32;
inline constexpr std::uint64_t known_features = feature_loans | feature_far_sleep | feature_confirmation |
                                                feature_growth | feature_near_sleep | feature_growing_loans;

struct Hello {
  std::uint64_t magic = hello_magic;
  std::uint32_t kind = static_cast<std::uint32_t>(PacketKind::hello);
  std::uint16_t lowest_version = abi_version;  // of the ABI; the versions that this end supports
  std::uint16_t highest_version = abi_version;
  std::uint64_t offered = known_features;
  std::uint64_t required = 0;
  std::uint64_t channel = 0;  // random, chosen by the connector; the acceptor repeats it
  std::uint32_t wake = 0;     // Wake
  std::uint32_t signal = 0;
  std::int32_t process = 0;  // this end, as numbered in its own pid namespace
  std::uint32_t slots = 0;   // Shape
  std::uint32_t chunks = 0;
  std::uint32_t chunk_size = 0;
  std::uint64_t start_ticks = 0;  // start time of that process, field 22 of /proc/<pid>/stat; 0: unknown
  std::uint32_t descriptors = 0;  // how many come with this packet
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
  char text[240] = {};  // no NUL at the end
};
static_assert(sizeof(Refusal) == 256);

struct Ready {
  std::uint64_t magic = hello_magic;
  std::uint32_t kind = static_cast<std::uint32_t>(PacketKind::ready);
  std::uint32_t spare = 0;
};
static_assert(sizeof(Ready) == 16);

// The most descriptors that a Hello carries. Their order: the sender's region, then the sleep page (from the connector
// only). With Wake::eventfd two more follow: one for "a record is there", one for "there is room". They are pipes or
// eventfds, and take 8 bytes for a wake-up.
inline constexpr std::size_t most_descriptors = 4;

// Passed holds the descriptors of a packet. Another thread closes those that are not taken out
// (orb/os/peers/passed_descriptors.h).
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
  // Takes out a descriptor that any thread may close.
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

// Blocks until the socket is readable or has failed. Returns false at the deadline. Signals do not end the wait.
bool wait_readable(int socket, Time deadline) noexcept;

// Send and receive one packet. Neither blocks longer than until `deadline`. refused: the peer refused. bad_peer: the
// peer hung up, or sent what is no packet of this protocol. Such a packet stays in the socket, which must then be
// closed with os::close_socket().
Expected<void, SetupFault> send_packet(const os::Fd& socket, const void* bytes, std::size_t size,
                                       const std::vector<int>& descriptors);
Expected<Packet, SetupFault> receive_packet(const os::Fd& socket, Time deadline);
void send_refusal(const os::Fd& socket, const std::string& text) noexcept;

// Read the packet as a Hello, or as Ready. refused: it is a Refusal. Any other packet gives bad_peer or incompatible.
Expected<Hello, SetupFault> as_hello(const Packet& packet);
Expected<void, SetupFault> as_ready(const Packet& packet);
// Checks whether this end can work with the other one.
Expected<void, SetupFault> check(const Hello& mine, const Hello& theirs);

}  // namespace corelane::channel
