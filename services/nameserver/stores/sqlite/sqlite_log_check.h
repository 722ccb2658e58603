// look_into_log() checks whether the write-ahead log of a SQLite file still has all that was committed to it. SQLite
// reads a log up to the first frame with a wrong checksum, ignores the rest, and reports nothing. Format:
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log. No I/O of its own.
//
// If each commit is synced (synchronous=FULL or more), a killed process or a loss of power can leave only:
// - frames of the one change in progress, torn in any way, its last frame perhaps complete;
// - behind the last change, frames of longer changes that failed and were undone;
// - behind a log that was restarted in place, frames from before, with other salts;
// - a torn header without frames, or with frames from before. These are in the file already or were never committed.
//
// In all these cases, a frame continues the checksum of a change's last frame only if that change was committed, and so
// synced. If such a change or one before it is missing, the log is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace corelane::nameserver {

struct LogFinding {
  std::uint64_t whole = 0;  // bytes up to the end of the last change that SQLite reads
  bool is_damaged = false;  // a committed change is, or was, behind them
  // Behind them is an uncommitted change or a damaged last change; the bytes do not show which.
  bool is_unfinished = false;
};

// Returns bytes of the file beside the log; fewer at the file's end.
using BytesOfFile = std::function<std::string(std::uint64_t at, std::size_t count)>;

LogFinding look_into_log(std::string_view log, const BytesOfFile& file);

}  // namespace corelane::nameserver
