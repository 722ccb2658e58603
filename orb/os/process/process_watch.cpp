#include "orb/os/process/process_watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace corelane::os {
namespace {

constexpr std::uint64_t bell_event = 0;  // no watched process has this number

bool listen_to(const Fd& poll, const Fd& fd, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

int milliseconds_until(Time until) {
  if (until == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(left_until(until));
  return static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));  // wait() returns early, and is called again
}

}  // namespace

ProcessWatch::ProcessWatch()
    : poll_(made(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      bell_(made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  if (!listen_to(poll_, bell_, bell_event)) throw std::system_error(errno, std::generic_category(), "epoll");
}

// Checks the identity after it has opened the pidfd: from then on, reuse of the pid cannot go unnoticed.
Expected<void, int> ProcessWatch::add(const ProcessIdentity& process) {
  const LockGuard lock(mutex_);
  const PidAndStart key{process.pid, process.start_ticks};
  if (watched_.contains(key)) return {};
  const WatchNumber number = last_ + 1;
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!pidfd && errno != ESRCH) return Unexpected{errno};
  const bool lives = pidfd && is_alive(process);
  if (lives && !listen_to(poll_, pidfd, number)) return Unexpected{errno};
  if (!lives) pidfd.reset();
  watched_.emplace(key, Watched{number, std::move(pidfd)});
  last_ = number;
  if (!lives) wake();
  return {};
}

void ProcessWatch::keep_only(const std::vector<ProcessIdentity>& needed) {
  const LockGuard lock(mutex_);
  std::erase_if(watched_, [&](const auto& item) {
    return std::find(needed.begin(), needed.end(), ProcessIdentity{item.first.first, item.first.second}) ==
           needed.end();
  });
}

std::vector<ProcessIdentity> ProcessWatch::take_ended(const std::vector<WatchNumber>& told) {
  std::vector<ProcessIdentity> ended;
  const LockGuard lock(mutex_);
  std::erase_if(watched_, [&](const auto& item) {
    const auto& [key, watched] = item;
    const bool over = !watched.pidfd || std::find(told.begin(), told.end(), watched.number) != told.end();
    if (over) ended.push_back({key.first, key.second});
    return over;
  });
  return ended;
}

std::vector<ProcessIdentity> ProcessWatch::wait(Time until) {
  constexpr int at_once = 64;
  epoll_event events[at_once];
  const int count = std::max(0, ::epoll_wait(poll_.get(), events, at_once, milliseconds_until(until)));
  std::vector<WatchNumber> told;
  for (int i = 0; i < count; ++i) told.push_back(WatchNumber{events[i].data.u64});  // copies from a packed structure
  std::uint64_t rung = 0;
  (void)!::read(bell_.get(), &rung, sizeof rung);
  return take_ended(told);
}

void ProcessWatch::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

}  // namespace corelane::os
