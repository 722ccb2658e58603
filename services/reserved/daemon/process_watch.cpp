#include "services/reserved/daemon/process_watch.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "orb/os/clock.h"

namespace corelane::reserved {
namespace {

// 0 or an errno.
int add_to(const os::Fd& epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

std::string unwatched(const Process& process, int fault) {
  return "process " + std::to_string(process.pid) +
         " cannot be watched, so its end would be missed: " + std::generic_category().message(fault) +
         (fault == EMFILE || fault == ENFILE ? "; raise LimitNOFILE of corelane-reserved, or give reservations back"
                                             : "");
}

}  // namespace

ProcessWatch::ProcessWatch() : epoll_(epoll_create1(EPOLL_CLOEXEC)), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !bell_) throw std::system_error(errno, std::generic_category(), "watching processes");
  if (const int fault = add_to(epoll_, bell_.get()); fault != 0)
    throw std::system_error(fault, std::generic_category(), "watching processes");
}

ProcessWatch::~ProcessWatch() {
  stop();
  for (const auto& [fd, process] : watched_) close(fd);
}

void ProcessWatch::start(Calls calls) {
  calls_ = std::move(calls);
  thread_ = std::thread([this] { run(); });
}

void ProcessWatch::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void ProcessWatch::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!write(bell_.get(), &one, sizeof one);
}

Expected<void, std::string> ProcessWatch::watch(const Process& process) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [fd, known] : watched_)
    if (known == process) return {};
  return add(process);
}

void ProcessWatch::keep_only(const std::vector<Process>& needed) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(watched_, [&](const auto& entry) {
    const bool over = std::ranges::find(needed, entry.second) == needed.end();
    if (over) close(entry.first);
    return over;
  });
}

// The identity is looked at with the descriptor in hand: from then on the pid cannot be another's unseen.
Expected<void, std::string> ProcessWatch::add(const Process& process) {
  os::Fd fd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd && errno != ESRCH) return Unexpected{unwatched(process, errno)};
  if (!fd || !os::is_alive(process)) {
    gone_.push_back(process);
    wake();
    return {};
  }
  if (const int fault = add_to(epoll_, fd.get()); fault != 0) return Unexpected{unwatched(process, fault)};
  watched_.emplace(fd.get(), process);
  fd.release();
  return {};
}

std::vector<Process> ProcessWatch::take_ended() {
  std::array<epoll_event, 64> events{};
  const std::scoped_lock lock(mutex_);  // before the look: no number of a descriptor is another's meanwhile
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::vector<Process> ended = std::exchange(gone_, {});
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (const auto found = watched_.find(fd); found != watched_.end()) {
      ended.push_back(found->second);
      watched_.erase(found);
      close(fd);
    }
  }
  return ended;
}

// Bound: until stop().
void ProcessWatch::run() {
  Time next = os::now() + calls_.period;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(next - os::now(), Duration::zero()));
    epoll_event event{};
    epoll_wait(epoll_.get(), &event, 1, static_cast<int>(left.count()));
    std::uint64_t rung = 0;
    (void)!read(bell_.get(), &rung, sizeof rung);
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return;
    }
    for (const Process& process : take_ended()) calls_.ended(process);
    if (os::now() < next) continue;
    calls_.tick();
    next = os::now() + calls_.period;
  }
}

}  // namespace corelane::reserved
