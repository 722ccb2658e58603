// Whether the write-ahead log of a SQLite file has all that it has had, as its bytes say: SQLite takes it up to the
// first frame whose sum is wrong, passes over the rest, and says nothing. Format:
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log. No I/O of its own.
//
// A process that is killed or a machine that loses power leaves, where each commit is synced (synchronous=FULL or
// more):
//   - frames of the one change under way, torn in any way, its last one maybe whole;
//   - behind the last change, frames of longer ones that failed and were undone;
//   - behind a log that has begun anew in place, frames of before, with other salts;
//   - a torn header, with no frames; or with those of before, which are in the file already or were never committed.
// In none of them does a frame go on from the last one of a change, its sum from that one's, unless that change was
// committed, and so synced: it, and all before it, can be missing by damage alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace corelane::nameserver {

struct LogFinding {
  std::uint64_t whole = 0;     // bytes: with the last change that SQLite takes
  bool is_damaged = false;     // behind them is, or was, a change that was committed
  bool is_unfinished = false;  // behind them is one that was not, or the last one, damaged: nobody can tell
};

// The bytes of the file beside the log; fewer where there are no more.
using BytesOfFile = std::function<std::string(std::uint64_t at, std::size_t count)>;

LogFinding look_into_log(std::string_view log, const BytesOfFile& file);

}  // namespace corelane::nameserver
