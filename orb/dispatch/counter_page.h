// CounterPage publishes what one process runs: cores, tasks, counters and refusals. It is a small file in the runtime
// directory that the process keeps up to date and `corelane top` reads. Reading it costs the server nothing: no call,
// no lock. Both sides read and write the file instead of mapping it. An access to a mapping would kill the process if
// the file is truncated or its file system is full.
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

inline constexpr std::uint64_t page_version = 12;

// What a process's tasks may rely on. The numbers are those in the page.
enum class Guarantee : std::uint8_t {
  bounds = 0,      // each task was analysed, and its deadline holds
  placement = 1,   // dispatch.admission off: a task has a core and a priority, but its deadlines may not hold
  priorities = 2,  // mode leader-followers: a task has no bound; only misses and overruns are detected
};

struct CoreCounters {
  CoreId core;
  std::int64_t capacity = 0;  // parts per million
  std::int64_t admitted = 0;  // the sum of the tasks' C/T, each rounded down
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
  std::uint64_t blocks = 0;      // jobs that waited undeclared
  std::uint64_t oversleeps = 0;  // jobs whose suspensions were longer than S in total
  std::uint64_t refused = 0;     // refused jobs, mostly because another one waited
  Duration p50{}, p99{}, max{};
  Time used{};              // when a call was last noticed, or when the task was admitted
  std::int32_t thread = 0;  // the kernel's number of the task's thread; 0: it has not started, or there is none
  std::string label;
  std::string holder{};  // the owner: an address, or a user of this host; "": this process, or not known
};

// What else the process's promises depend on.
struct PromiseConditions {
  Guarantee guarantee = Guarantee::bounds;
  bool direct = false;    // dispatch.mode direct: tasks read their own connections
  bool real_time = true;  // its threads have SCHED_FIFO
  bool guarded = true;    // it checks the promises of the host's other servers before it promises

  friend constexpr bool operator==(const PromiseConditions&, const PromiseConditions&) = default;
};

struct ProcessCounters {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t pid_namespace = 0;
  std::string program;
  Time written{};
  PromiseConditions conditions{};
  std::uint64_t admitted = 0, refused = 0, jobs_refused = 0, queue_full = 0, best_effort_jobs = 0;
  std::vector<CoreCounters> cores;
  std::vector<TaskCounters> tasks;
  std::vector<RefusedAdmission> refusals;  // the latest first
};

class CounterPage {
 public:
  // Creates the file for at most this many cores and tasks, and for RefusalLog::most refusals. Reserves all its disk
  // space. PERSIST_STORE system_refused, and errno says why.
  static Expected<std::unique_ptr<CounterPage>> make(const std::string& directory, std::size_t cores,
                                                     std::size_t tasks);
  CounterPage(const CounterPage&) = delete;
  CounterPage& operator=(const CounterPage&) = delete;
  ~CounterPage() = default;  // removes the file

  // Returns whether the file is still at its path.
  bool is_at_path() const noexcept;
  // Replaces the content of the page, leaving out what it has no room for. Call it on one thread only.
  void write(const ProcessCounters& counters) noexcept;

 private:
  CounterPage(std::string path, os::Fd file, std::size_t words, std::size_t cores, std::size_t tasks);
  void fill(const ProcessCounters& counters) noexcept;
  void put(std::span<const std::uint64_t> words, std::size_t at) noexcept;

  const os::OwnFile file_;
  const std::size_t cores_, tasks_;
  std::vector<std::uint64_t> words_;  // the content of the file
};

// Reads a page. Returns nothing if the words are no page, of another version, damaged, or being written.
std::optional<ProcessCounters> read_page(std::span<const std::uint64_t> words);

// Returns the pages of all living processes that this user may read. Only processes of this pid namespace are included,
// because of others it is not known whether they live. Not for real-time threads.
std::vector<ProcessCounters> read_pages(const std::string& directory);

// Asks the owners of all pages in this directory to write them now, also owners that write seldom because they rest.
// Skips pages that this user may not write. An owner writes no sooner than its period allows.
void ask_for_pages(const std::string& directory);

// Returns the pids in the names of all pages, also of pages that this user may not read, and of processes that have
// ended. Clears `failure`, or sets it to why the directory could not be read to its end. The result has what was found
// until then.
std::vector<std::int32_t> page_owners(const std::string& directory, std::error_code& failure);

// Returns whether the file is a page, complete or not, whose owner has ended. Works across pid namespaces. Changes
// nothing.
bool is_stale_page(const std::string& path) noexcept;
// Removes the page if it is stale. Returns whether the name is free now.
bool remove_stale_page(const std::string& path) noexcept;
// Removes the pages of processes that have ended, in all pid namespaces, complete or not. Not for real-time threads.
void remove_stale_pages(const std::string& directory);

}  // namespace corelane::dispatch
