// TraceFile is a recorded run as bytes: the program, its options, and the tracks of its Manager and its CoreSchedulers.
//
// Layout: 64-bit words, little-endian.
//   0   magic "CORELANE"            8   checksum: CRC-32C of all words after it
//   1   trace_version               9   reason
//   2   words in the file           10  length of the program's name in bytes
//   3   process id                  11  number of cores
//   4   its start, clock ticks      12  number of tracks
//   5   dumped at, monotonic ns     13  ManagerOptions: flags, bit 0 repack, 1 enforces_budgets, 2
//                                       charge_overruns, 3 spares_own_user
//   6   the same, boot time ns      14  max_tasks            16  levels
//   7   the same, real time ns      15  max_tasks_per_core   17  peer_limit     18  peer_urgency
//   19  peer_tasks                  20  length of the name of the allocation strategy in bytes
//                                   21  the same of the admission test
//   then the three names, each padded with zeros to a whole word; for each core: id, capacity, budget, period, jitter,
//   blocking of its load, its order (0 by priorities, 1 by deadlines, 2 by deadlines under servers), its cache;
//   for each track: kind, core, max_tasks, timer, slots lost, words of records, the records.
//
// Threads: pure functions and values; all functions allocate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/sched/manager.h"
#include "orb/sched/trace/trace.h"

namespace corelane::sched {

enum class TraceReason : std::uint64_t { request = 1, miss = 2, exit = 3 };
std::string_view name_of(TraceReason reason) noexcept;

enum class TrackKind : std::uint64_t { manager = 1, core = 2 };

// What one state machine was told and what it answered, in this order.
struct Track {
  TrackKind kind = TrackKind::manager;
  CoreId core = no_core;      // the core of a CoreScheduler
  std::size_t max_tasks = 0;  // the argument of a CoreScheduler's constructor
  TimerId timer{};            // the timer of a CoreScheduler
  // The number of recorder slots (64 bytes each) with older records that were overwritten. 0: the track is complete
  // from the start.
  std::uint64_t lost = 0;
  std::vector<std::uint64_t> words{};  // records, one after another
};

struct TraceFile {
  std::string program;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  Time dumped_at{};  // on the clock of the records
  // The same instant on the kernel's boot-time clock, and on the real-time clock (since 1970).
  Duration dumped_boot_time{};
  Duration dumped_real_time{};
  TraceReason reason = TraceReason::request;
  ManagerOptions options{};
  std::vector<Track> tracks{};
};

// Says in one sentence for the user why bytes are not a trace.
struct TraceFault {
  std::string text;
};

std::vector<std::byte> to_bytes(const TraceFile& trace);

// Parses a trace. Checks length, version, checksum and ranges, and that each track consists of complete records of
// known kinds.
Expected<TraceFile, TraceFault> parse_trace(Bytes bytes);

// Returns the records of a track of a parsed trace, in order.
std::vector<TraceView> records_of(const Track& track);

// Returns the CRC-32C (Castagnoli: the polynomial of RFC 3720, appendix B.4).
std::uint32_t crc32c(Bytes bytes) noexcept;

}  // namespace corelane::sched
