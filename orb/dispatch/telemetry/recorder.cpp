#include "orb/dispatch/telemetry/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/files/small_file.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::dispatch {
namespace {

constexpr Error off{.kind = ErrorKind::bad_param, .minor = minor::bad_option};
using errors::no_memory;
constexpr int most_names = 10'000;  // of old traces that have the names already
using errors::not_stored;

Duration read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds{now.tv_sec} + Duration{now.tv_nsec};
}

// Returns why no trace can be written although some are configured; "" if they can.
std::string fault_of(const RecorderOptions& options) {
  if (options.dump_on_miss == 0 && !options.dump_at_exit) return {};
  if (options.size == 0)
    return "recorder.dump_on_miss and recorder.dump_at_exit write nothing with recorder.size = 0, which records "
           "nothing: leave recorder.size as it is";
  if (options.directory.empty()) return {};
  const std::filesystem::path above = std::filesystem::absolute(options.directory).parent_path();
  std::error_code ignored;
  if (above == options.runtime_directory || std::filesystem::is_directory(above, ignored)) return {};  // or is made
  return "recorder.directory = " + options.directory + ": no trace can be written before there is a directory " +
         above.string() + "; only the last folder is made";
}

bool write_bytes(const os::Fd& file, Bytes bytes) noexcept {
  const os::SizeLimitGuard guard;
  return os::write_all(file.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Gives the draft its name. Returns false with errno EEXIST if another file has it.
bool take_name(const std::string& draft, const std::string& path) noexcept {
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL) return false;
  return ::access(path.c_str(), F_OK) != 0 && ::rename(draft.c_str(), path.c_str()) == 0;  // no RENAME_NOREPLACE
}

bool write_by_draft(const std::string& path, Bytes bytes) {
  const std::string draft = path + ".part";
  const os::Fd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return false;
  if (write_bytes(file, bytes) && take_name(draft, path)) return true;
  const int reason = errno;
  ::unlink(draft.c_str());
  errno = reason;
  return false;
}

// Writes a file that appears under its name whole or not at all, so a program that waits for it finds all of it. If
// this process is killed meanwhile, nothing is left. Exceptions are a file system without unnamed files, and a missing
// /proc, which names them. Returns false with errno EEXIST if another file has that name.
bool write_new_file(const std::string& path, Bytes bytes) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const os::Fd file(::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file) return write_by_draft(path, bytes);
  if (!write_bytes(file, bytes)) return false;
  const std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  return errno != EEXIST && write_by_draft(path, bytes);
}

}  // namespace

// Prefers the file's name, because a program that starts itself again is called /proc/self/exe. The name of a removed
// file may be a temporary one: linkers rename a file before they replace it.
std::string program_name_of(std::string path, const std::string& called) {
  constexpr std::string_view removed = " (deleted)", anew = "exe";
  const bool is_removed = path.ends_with(removed);
  if (path.empty() || (is_removed && called != anew)) return called;
  if (is_removed) path.resize(path.size() - removed.size());
  return path.substr(path.rfind('/') + 1);
}

std::string program_name() { return program_name_of(os::program_path(), program_invocation_short_name); }

Recorder::Recorder(const RecorderOptions& options, const sched::ManagerOptions& manager, std::size_t scheduler_tasks)
    : options_(options), manager_options_(manager), scheduler_tasks_(scheduler_tasks) {
  if (const std::string fault = fault_of(options_); !fault.empty()) os::log::warn(fault);
  if (options_.size == 0) return;
  for (std::size_t i = 0; i <= manager.cores.size(); ++i)
    rings_.push_back(std::make_unique<RecorderRing>(options_.size));
}

RecorderRing* Recorder::scheduler(CoreId core) noexcept {
  for (std::size_t i = 0; i + 1 < rings_.size(); ++i)
    if (manager_options_.cores[i].id == core) return rings_[i + 1].get();
  return nullptr;
}

std::uint64_t Recorder::misses() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& ring : rings_) sum += ring->misses();
  return sum;
}

bool Recorder::step(Time now) noexcept try {
  const bool missed = look_for_misses(now);
  return look_for_request() || missed;
} catch (const std::bad_alloc&) {
  return true;
}

bool Recorder::look_for_misses(Time now) {
  if (!watches_misses() || miss_files_ == options_.dump_on_miss || now < next_file_) return false;
  const std::uint64_t misses = this->misses();
  if (misses == seen_misses_) return false;
  seen_misses_ = misses;
  next_file_ = now + options_.between;
  ++miss_files_;
  (void)dump(sched::TraceReason::miss);  // the log reports a failure
  return true;
}

bool Recorder::look_for_request() {
  if (options_.runtime_directory.empty()) return false;
  const int pid = ::getpid();
  const std::string request = dump_request(options_.runtime_directory, pid);
  if (::unlink(request.c_str()) != 0) return false;
  if (rings_.empty())
    os::log::warn("recorder: a trace was requested, but nothing is recorded with recorder.size = 0; set it above 0");
  const auto path = dump(sched::TraceReason::request);
  const std::string text = path ? *path : "";
  const os::SizeLimitGuard guard;
  if (const auto written = os::write_small_file(dump_answer(options_.runtime_directory, pid), text, 0600); !written)
    os::log::warn("recorder: cannot write the answer to a request: " + written.error().text);
  return true;
}

sched::TraceFile Recorder::snapshot(sched::TraceReason reason) const {
  const os::ProcessIdentity self = os::this_process();
  sched::TraceFile trace{.program = program_name(),
                         .pid = self.pid,
                         .start_ticks = self.start_ticks,
                         .dumped_at = os::now(),
                         .dumped_boot_time = read_clock(CLOCK_BOOTTIME),
                         .dumped_real_time = read_clock(CLOCK_REALTIME),
                         .reason = reason,
                         .options = manager_options_,
                         .tracks = {}};
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    RecorderRing::Copy copy = rings_[i]->copy();
    sched::Track track{.lost = copy.lost, .words = std::move(copy.words)};
    if (i > 0) {
      track.kind = sched::TrackKind::core;
      track.core = manager_options_.cores[i - 1].id;
      track.max_tasks = scheduler_tasks_;
      track.timer = TimerId{static_cast<std::uint64_t>(track.core.value)};
    }
    trace.tracks.push_back(std::move(track));
  }
  return trace;
}

Expected<std::string> Recorder::dump(sched::TraceReason reason, std::string_view directory) try {
  if (rings_.empty()) return off;
  const os::LockGuard lock(mutex_);
  const std::string folder(directory.empty() ? std::string_view(options_.directory) : directory);
  std::error_code failure;
  for (const std::string& made : {options_.runtime_directory, folder})
    if (!made.empty()) std::filesystem::create_directory(made, failure);
  const auto path = write_trace(folder.empty() ? "." : folder, snapshot(reason));
  if (path)
    os::log::info("recorder: wrote " + *path + " (" + std::string(name_of(reason)) +
                  "); look at it with: corelane trace " + *path);
  return path;
} catch (const std::bad_alloc&) {
  os::log::warn("recorder: no memory to write what was recorded");
  return no_memory;
}

// Uses the first free number: a process of another pid namespace, or an earlier one, may have had our pid.
Expected<std::string> Recorder::write_trace(const std::string& folder, const sched::TraceFile& trace) {
  const std::string start =
      folder + "/" + trace.program + "-" + std::to_string(trace.pid) + "-" + std::string(name_of(trace.reason)) + "-";
  const std::vector<std::byte> bytes = to_bytes(trace);
  for (int attempt = 0; attempt < most_names; ++attempt) {
    std::string path = start + std::to_string(++file_count_) + ".cltrace";
    if (write_new_file(path, bytes)) return path;
    if (errno == EEXIST) continue;
    os::log::warn("recorder: " + path + " cannot be written: " + std::strerror(errno) +
                  "; set recorder.directory to a directory that this process may write to");
    return not_stored;
  }
  os::log::warn("recorder: " + start + "*.cltrace: all names are in use; remove some files");
  return not_stored;
}

void Recorder::end() noexcept {
  if (options_.dump_at_exit && !rings_.empty()) (void)dump(sched::TraceReason::exit);  // the log reports a failure
}

}  // namespace corelane::dispatch
