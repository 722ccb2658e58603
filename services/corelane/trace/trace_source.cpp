#include "services/corelane/trace/trace_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "orb/dispatch/recorder_options.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/file_lock.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/host/elsewhere.h"
#include "services/corelane/host/listening.h"
#include "services/corelane/host/server_page.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr std::size_t longest_trace = std::size_t{1} << 32;
constexpr std::size_t longest_path = 4096;

std::string why() { return std::strerror(errno); }

// Makes the request file. Removes an old answer that its requester did not wait for.
bool ask(const std::string& question, const std::string& answer) {
  ::unlink(answer.c_str());
  return static_cast<bool>(os::Fd(::open(question.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
}

// Returns the server's runtime directory if it is another one, where it would never see the request. Returns "" if it
// is not known to have another.
std::string other_directory(const std::string& directory, int pid) {
  const std::string its = directory_of_server(pid);
  std::error_code not_there;
  return std::filesystem::equivalent(its, directory, not_there) ? "" : its;
}

// Returns whether the process has a counter page in the directory, as each server has. If that cannot be seen, returns
// true.
bool has_page(const std::string& directory, int pid) {
  return ::access((directory + "/counters-" + std::to_string(pid)).c_str(), F_OK) == 0 || errno != ENOENT;
}

// Turn is the right of this process to make a request.
class Turn {
 public:
  // Waits for other requesters until `until`.
  Turn(std::string path, Time until) : path_(std::move(path)), fault_(claim(until)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (file_) ::unlink(path_.c_str());
  }
  bool has_come() const noexcept { return static_cast<bool>(file_); }
  // Why it has no turn, as an errno; 0: another process kept it until the time had passed.
  int fault() const noexcept { return fault_; }

 private:
  int claim(Time until) {
    while (true) {  // bound: the patience
      auto claimed = os::claim_file(path_.c_str());
      if (claimed) return file_ = std::move(*claimed), 0;
      const os::ClaimFault& fault = claimed.error();
      if (fault.kind != os::ClaimFault::Kind::held) return fault.number != 0 ? fault.number : EEXIST;
      if (os::now() >= until) return 0;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }

  const std::string path_;
  os::Fd file_;
  const int fault_;
};

void wait_for(const std::string& answer, int pid, Time patience) {
  // Bound: the patience, or the server's life.
  while (::access(answer.c_str(), F_OK) != 0 && os::now() < patience && lives(pid))
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
}

}  // namespace

std::ostream& Complaints::begin() const { return out << "corelane " << command << ": "; }

std::optional<sched::TraceFile> load_trace(const std::string& path, const Complaints& complaints) {
  const auto text = os::read_small_file(path, longest_trace);
  if (!text) {
    const bool is_number = !path.empty() && path.find_first_not_of("0123456789") == path.npos;
    complaints.begin() << plain(text.error().text)
                       << (is_number ? "; a process's trace is had by --request " + path : "") << "\n";
    return std::nullopt;
  }
  auto trace = sched::parse_trace(std::as_bytes(std::span(*text)));
  if (!trace) {
    complaints.begin() << plain(path) << ": " << plain(trace.error().text) << "\n";
    return std::nullopt;
  }
  return std::move(*trace);
}

std::optional<std::string> request_trace(const std::string& directory, int pid, std::chrono::milliseconds wait,
                                         const Complaints& complaints) {
  const std::string question = dispatch::dump_request(directory, pid), answer = dispatch::dump_answer(directory, pid);
  if (!lives(pid)) {
    complaints.begin() << "there is no process " << pid << "; corelane top shows which servers there are\n";
    return std::nullopt;
  }
  if (is_stopped(pid)) {
    complaints.begin() << "process " << pid << " is stopped, so it writes nothing: kill -CONT " << pid
                       << " lets it go on\n";
    return std::nullopt;
  }
  if (const std::string other = other_directory(directory, pid); !other.empty()) {
    complaints.begin() << "process " << pid << " has runtime.directory " << plain(other) << ", not " << plain(directory)
                       << "; ask it with --runtime-directory " << plain(other) << "\n";
    return std::nullopt;
  }
  if (!has_page(directory, pid)) {
    complaints.begin() << "process " << pid << " is no Corelane server with runtime.directory " << plain(directory)
                       << "; corelane top shows which there are\n";
    return std::nullopt;
  }
  if (const std::string why = why_untraced_in(directory, pid); !why.empty()) {
    complaints.begin() << "process " << pid << " " << why << "\n";
    return std::nullopt;
  }
  const Time until = os::now() + wait;
  const Turn turn(dispatch::dump_turn(directory, pid), until);
  if (!turn.has_come() && turn.fault() == 0) {
    complaints.begin() << "process " << pid << " is being asked for traces by others; ask again\n";
    return std::nullopt;
  }
  if (!turn.has_come() || !ask(question, answer)) {
    complaints.begin() << plain(question) << ": " << (turn.has_come() ? why() : std::strerror(turn.fault()))
                       << "; is this the server's runtime.directory?\n";
    return std::nullopt;
  }
  wait_for(answer, pid, until);
  auto path = os::read_small_file(answer, longest_path);
  ::unlink(answer.c_str());
  if (path && !path->empty()) return std::move(*path);
  ::unlink(question.c_str());
  complaints.begin() << "process " << pid
                     << (path
                             ? " could not write a trace (with recorder.size 0 nothing is recorded); its log says why\n"
                             : " did not answer; is it a Corelane server with runtime.directory " + plain(directory) +
                                   "? corelane top shows which there are\n");
  return std::nullopt;
}

}  // namespace corelane::tool
