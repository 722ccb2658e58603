// CounterPage: what one process runs, for others to look at: a small file in the runtime directory that its owner keeps
// up to date and that `corelane top` reads. Reading it asks nothing of the server: no call, no lock. Both read and
// write, since a mapping kills its user where the file is cut off or its file system is full.
//
// Name: counters-<pid>, with .1 and so on behind it where a process of another namespace has the name. Mode 0600: who
// may look is who could trace the process anyway; labels and contracts tell what a plant does. The owner keeps a lock
// of the file; a page whose lock nobody has is stale, and may be removed by whoever gets it.
//
// Layout, ABI of `page_version`: 64-bit words in host order.
//   header   0 magic "CLCOUNTS"   4 its start, clock ticks      8  refused admissions    12 cores
//            1 version            5 sequence: odd while written  9  refused jobs          13 tasks
//            2 bytes of the file  6 written at, monotonic ns     10 requests without      14 most tasks
//            3 process id         7 admitted tasks                  contract that ran     15 what holds: Guarantee
//            11 its pid namespace, inode number      16 refused newcomers    17 most refused newcomers
//            18 requests that found the queue full    19 standing: 1 direct, 2 no SCHED_FIFO, 4 unguarded
//            20-31 program's name, ended by a zero
//   core     0 id   1 capacity   2 admitted   3 tasks   4 order: CoreOrder    (shares in parts per million)
//   task     0 id   1 owner   2 core   3 native priority   4-8 T D C J S   9 importance   10 overrun policy
//            11 largest bound of the response so far   12 jobs   13 misses   14 overruns   15-17 response: p50 p99 max
//            18 blocks   19 oversleeps   20 refused jobs   21 last seen in use, monotonic ns
//            22-33 label   34-39 whose it is: an address or "user 1000"; both ended by a zero
//   refused newcomer, the latest first; but for 1 of its latest refusal
//            0 when it asked, monotonic ns   1 times   2 owner   3-7 T D C J S   8 importance   9 overrun policy
//            10 code   11 closest core   12 loser   13 R   14 D   15-19 what would fit: T D C J S   20 J of the loser
//            21 tasks   22 platform load   23 others' promises   24 others' platform load   25-28 loser's name
//            29 why it proposes nothing: Unproposed   30-41 label; both texts ended by a zero
// Threads: one writer; readers in any process. A reader that meets a writer (sequence odd or changed) tries again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/os/fd.h"
#include "orb/os/own_file.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

inline constexpr std::uint64_t page_version = 8;

// What a process's tasks may rely on. The numbers are those of the page.
enum class Guarantee : std::uint8_t {
  bounds = 0,      // each was analysed, and its deadline holds
  placement = 1,   // dispatch.admission off: a core and a priority, whether deadlines hold or not
  priorities = 2,  // mode leader-followers: no core and no bound, and only misses and overruns are looked for
};

struct CoreCounters {
  CoreId core;
  std::int64_t capacity = 0;  // parts per million
  std::int64_t admitted = 0;  // the tasks' C/T, rounded down
  std::uint64_t tasks = 0;
  sched::CoreOrder order = sched::CoreOrder::priority;
};

struct TaskCounters {
  TaskId task;
  PeerId owner;
  CoreId core;
  int native = 0;  // SCHED_FIFO level; 0 SCHED_OTHER
  Contract contract{};
  Duration bound{};
  std::uint64_t jobs = 0, misses = 0, overruns = 0;
  std::uint64_t blocks = 0;      // jobs that waited without saying so
  std::uint64_t oversleeps = 0;  // jobs that suspended themselves for longer than S in all
  std::uint64_t refused = 0;     // jobs that were turned away: mostly, while one waited
  Duration p50{}, p99{}, max{};
  Time used{};  // when a call of it was noticed last; when it was admitted, if none was
  std::string label;
  std::string holder{};  // whose it is: an address, or a user of this host; "": this process's own, or not known
};

// What else stands behind a process's promises.
struct Standing {
  Guarantee guarantee = Guarantee::bounds;
  bool direct = false;    // dispatch.mode direct: tasks read connections of their own
  bool real_time = true;  // its threads have SCHED_FIFO
  bool guarded = true;    // it asks the other servers of the host before it promises

  friend constexpr bool operator==(const Standing&, const Standing&) = default;
};

struct ProcessCounters {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t pid_namespace = 0;
  std::string program;
  Time written{};
  Standing standing{};
  std::uint64_t admitted = 0, refused = 0, jobs_refused = 0, queue_full = 0, best_effort_jobs = 0;
  std::vector<CoreCounters> cores;
  std::vector<TaskCounters> tasks;
  std::vector<RefusedNewcomer> refusals;  // the latest first
};

class CounterPage {
 public:
  // Makes the file, for at most so many cores and tasks and for RefusalLog::most refusals, and takes all the room that
  // it needs on the disk.
  // PERSIST_STORE system_refused, and errno says why.
  static Expected<std::unique_ptr<CounterPage>> make(const std::string& directory, std::size_t cores,
                                                     std::size_t tasks);
  CounterPage(const CounterPage&) = delete;
  CounterPage& operator=(const CounterPage&) = delete;
  ~CounterPage() = default;  // removes the file

  // Whether others still find it.
  bool is_at_path() const noexcept;
  // Replaces what the page says. What is more than it has room for is left out. One thread.
  void write(const ProcessCounters& counters) noexcept;

 private:
  CounterPage(std::string path, os::Fd file, std::size_t words, std::size_t cores, std::size_t tasks);
  void fill(const ProcessCounters& counters) noexcept;
  void put(std::span<const std::uint64_t> words, std::size_t at) noexcept;

  const os::OwnFile file_;
  const std::size_t cores_, tasks_;
  std::vector<std::uint64_t> words_;  // what the file says
};

// Reads a page; nothing when it is none, of another version, damaged, or being written.
std::optional<ProcessCounters> read_page(std::span<const std::uint64_t> words);

// Those of all processes that live and that this user may look at; of this process's pid namespace, since of another
// one it cannot be said who lives. Not for real-time threads.
std::vector<ProcessCounters> read_pages(const std::string& directory);

// Whose pages there are by their names, also those that this user may not look at; living or not. `failure` is cleared
// or says why the directory could not be read, or not to its end: what was found until then is the result.
std::vector<std::int32_t> page_owners(const std::string& directory, std::error_code& failure);

// A page, whole or torn, whose owner has ended, of any namespace of processes. Changes nothing.
bool is_stale_page(const std::string& path) noexcept;
// Whether the name is free now.
bool remove_stale_page(const std::string& path) noexcept;
// Removes the pages of processes that have ended, of all namespaces, whole or torn. Not for real-time threads.
void remove_stale_pages(const std::string& directory);

}  // namespace corelane::dispatch
