// Reads and writes the content of service contexts as values. All are encapsulations. Ours begin with a version octet,
// and a reader skips what a later version appends.
//
//   contract 0x434C4E01, 80 bytes   0 byte order, 1 version, 8 task, 16 job, 24 T, 32 D, 40 C, 48 J, 56 S (u64, ns),
//                                   64 importance (i16), 66 policies (octet: bits 0-1 overrun), 72 time left (u64, ns)
//     version 2, 88 + 16 n bytes    80 n (ulong, 4 at most), then n times, from 88 on: 0 longest section (u64, ns),
//                                   8 resource (ulong, resource_named())
//     version 3, 88 + 16 n bytes    80 n (ulong, 0 to 4), 84 intensity (ushort); the rest as in version 2
//   refusal  0x434C4E02, 56 bytes   0 byte order, 1 version, 4 reason (ulong), 8 core (short), 16 response,
//                                   24 deadline, 32 T', 40 D', 48 C' (u64, ns)
//     version 2, 60 bytes           56 others (ulong, parts per million of the core that other processes hold)
//     version 3, 80 bytes           64 J', 72 S' (u64, ns)
//   chain    0x434C4E03, 8 + 8 n    0 byte order, 1 version, 4 n (ulong, 1 to 32), then n waits (u64), from 8 on
//   orb      0x434C4E04, 2 bytes    0 byte order, 1 version
//   RTCorbaPriority 10, 4 bytes     0 byte order, 2 priority (short)
//   ExceptionDetailMessage 14       0 byte order, 4 length in bytes (ulong), UTF-16, big endian unless it has a mark
//
// Threads: any; values. Only the detail message allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::giop {

// Says which job of which task a request is, and under which contract it runs.
struct ContractContext {
  TaskId task = no_task;  // no_task: asks for admission, or object and operation identify it
  JobId job{};
  std::optional<Contract> contract;      // absent on the wire as T = 0
  Duration time_left = Duration::max();  // until the deadline, at the time of sending; max: no deadline

  friend bool operator==(const ContractContext&, const ContractContext&) = default;
};

// Where the job's number lies in an encoded ContractContext: 8 octets in the order of the encapsulation.
inline constexpr std::size_t contract_job_at = 16;

inline constexpr std::size_t refusal_size = 80;

// Says why a task was refused, and what would have fitted. Zero: not known.
struct RefusalContext {
  std::uint32_t reason = 0;
  CoreId closest = no_core;
  Duration response{};
  Duration deadline{};
  Duration nearest_period{};
  Duration nearest_deadline{};
  Duration nearest_budget{};
  std::uint32_t others = 0;  // parts per million of `closest` that other processes of the server's host hold
  Duration nearest_jitter{};
  Duration nearest_suspension{};

  friend bool operator==(const RefusalContext&, const RefusalContext&) = default;
};

// ChainContext lists the waiting calls that enclose a request, the outermost first. Each is a number that the waiting
// thread drew for this wait. A call-back finds the waiting thread by it.
struct ChainContext {
  static constexpr std::size_t most = 32;

  // Appends a wait. Returns false if the chain is full.
  bool push(std::uint64_t wait) noexcept { return count < most && (waits[count++] = wait, true); }
  std::span<const std::uint64_t> all() const noexcept { return std::span(waits).first(count); }

  std::array<std::uint64_t, most> waits;  // only the first `count` are set
  std::uint32_t count = 0;
};

// ChainBytes is an encoded chain context.
class ChainBytes {
 public:
  ChainBytes() = default;
  explicit ChainBytes(const ChainContext& context) noexcept;
  operator Bytes() const noexcept { return Bytes(bytes_).first(size_); }

 private:
  std::array<std::byte, 8 + 8 * ChainContext::most> bytes_;
  std::size_t size_ = 0;
};

inline ChainBytes encode_chain(const ChainContext& context) noexcept { return ChainBytes(context); }

// ContractBytes is an encoded contract context; version 2 if it names resources, version 3 if it has an
// intensity.
class ContractBytes {
 public:
  ContractBytes() = default;
  explicit ContractBytes(const ContractContext& context) noexcept;
  operator Bytes() const noexcept { return Bytes(bytes_).first(size_); }

 private:
  static constexpr std::size_t bare = 80, most = 88 + 16 * max_uses;
  std::array<std::byte, most> bytes_{};
  std::size_t size_ = 0;
};

inline ContractBytes encode_contract(const ContractContext& context) noexcept { return ContractBytes(context); }
std::array<std::byte, refusal_size> encode_refusal(const RefusalContext& context) noexcept;
std::array<std::byte, 4> encode_rt_priority(std::int16_t priority) noexcept;

// Decode contexts. Refused (MARSHAL): content that is cut short, version 0, a chain of no waits or too many, and times
// beyond 2^63 ns. The exception is 2^64 - 1, which stands for Duration::max(): no deadline, no bound. Admission decides
// whether a contract is valid.
Expected<ContractContext> decode_contract(Bytes bytes) noexcept;
// Does the same without a copy: `context` is new, and gets the result. After an error its content is of no use.
Expected<void> decode_contract(Bytes bytes, ContractContext& context) noexcept;
Expected<RefusalContext> decode_refusal(Bytes context) noexcept;
Expected<ChainContext> decode_chain(Bytes context) noexcept;
Expected<std::int16_t> decode_rt_priority(Bytes context) noexcept;

// Encode and decode the detail message. Text is UTF-8 here; malformed parts become U+FFFD. The encoder cuts text at
// 4,000 bytes.
std::vector<std::byte> encode_detail(std::string_view text);
Expected<std::string> decode_detail(Bytes context);

// Encodes the context by which a request asks, and its reply confirms, that an end is this ORB. Only its presence
// matters.
std::array<std::byte, 2> encode_orb() noexcept;

}  // namespace corelane::giop
