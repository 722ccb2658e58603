#include "orb/dispatch/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <mutex>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/host.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

constexpr Error off{.kind = ErrorKind::bad_param, .minor = minor::bad_option};
constexpr Error refused{.kind = ErrorKind::persist_store, .minor = minor::system_refused};

Duration read_clock(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds{now.tv_sec} + Duration{now.tv_nsec};
}

bool write_all(const os::Fd& file, Bytes bytes) noexcept {
  while (!bytes.empty()) {  // bound: each turn writes something
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

// Whole under its name or not there: whoever waits for the file finds all of it. Not over an older one.
bool write_file(const std::string& path, Bytes bytes) {
  const std::string draft = path + ".part";
  const os::Fd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && write_all(file, bytes) && ::rename(draft.c_str(), path.c_str()) == 0) return true;
  const int reason = errno;
  ::unlink(draft.c_str());
  errno = reason;
  return false;
}

}  // namespace

// Not by what it was called: a program may start itself anew as /proc/self/exe.
std::string program_name() {
  std::error_code failure;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failure);
  return failure ? program_invocation_short_name : path.filename().string();
}

Recorder::Recorder(const RecorderOptions& options, const sched::ManagerOptions& manager, std::size_t lane_tasks)
    : options_(options), manager_options_(manager), lane_tasks_(lane_tasks) {
  if (options_.size == 0) return;
  for (std::size_t i = 0; i <= manager.cores.size(); ++i)
    rings_.push_back(std::make_unique<RecorderRing>(options_.size));
}

RecorderRing* Recorder::lane(CoreId core) noexcept {
  for (std::size_t i = 0; i + 1 < rings_.size(); ++i)
    if (manager_options_.cores[i].id == core) return rings_[i + 1].get();
  return nullptr;
}

std::uint64_t Recorder::misses() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& ring : rings_) sum += ring->misses();
  return sum;
}

bool Recorder::step(Time now) noexcept {
  const bool missed = look_for_misses(now);
  return look_for_request() || missed;
}

bool Recorder::look_for_misses(Time now) noexcept {
  if (!watches_misses() || miss_files_ == options_.dump_on_miss || now < next_file_) return false;
  const std::uint64_t misses = this->misses();
  if (misses == seen_misses_) return false;
  seen_misses_ = misses;
  next_file_ = now + options_.between;
  ++miss_files_;
  (void)dump(sched::TraceReason::miss);  // the log tells of a failure
  return true;
}

bool Recorder::look_for_request() noexcept {
  if (options_.requests.empty()) return false;
  const int pid = ::getpid();
  const std::string request = dump_request(options_.requests, pid);
  if (::unlink(request.c_str()) != 0) return false;
  const auto path = dump(sched::TraceReason::request);
  const std::string text = path ? *path : "";
  if (!write_file(dump_answer(options_.requests, pid), std::as_bytes(std::span(text))))
    os::log::warn("recorder: the answer to a request cannot be written into " + options_.requests);
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
      track.kind = sched::TrackKind::lane;
      track.core = manager_options_.cores[i - 1].id;
      track.max_tasks = lane_tasks_;
      track.timer = TimerId{static_cast<std::uint64_t>(track.core.value)};
    }
    trace.tracks.push_back(std::move(track));
  }
  return trace;
}

Expected<std::string> Recorder::dump(sched::TraceReason reason, std::string_view directory) {
  if (rings_.empty()) return off;
  const std::lock_guard lock(mutex_);
  const std::string folder(directory.empty() ? std::string_view(options_.directory) : directory);
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  const sched::TraceFile trace = snapshot(reason);
  const std::string path = (folder.empty() ? "." : folder) + "/" + trace.program + "-" + std::to_string(trace.pid) +
                           "-" + std::string(name_of(reason)) + "-" + std::to_string(++file_count_) + ".cltrace";
  if (!write_file(path, to_bytes(trace))) {
    os::log::warn("recorder: " + path + " cannot be written: " + std::strerror(errno) +
                  "; set recorder.directory to a directory that this process may write to");
    return refused;
  }
  os::log::info("recorder: wrote " + path + " (" + std::string(name_of(reason)) +
                "); look at it with: corelane trace " + path);
  return path;
}

void Recorder::end() noexcept {
  if (options_.dump_at_exit && !rings_.empty()) (void)dump(sched::TraceReason::exit);  // the log tells of a failure
}

}  // namespace corelane::dispatch
