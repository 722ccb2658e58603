#include "services/nameserver/process_watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "orb/os/clock.h"

namespace corelane::nameserver {
namespace {

constexpr std::uint64_t bell_event = 0;  // no watched process has this number

os::Fd made(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return os::Fd(fd);
}

bool listen_to(int poll, int fd, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int milliseconds_until(Time until) {
  if (until == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(os::left_until(until));
  return static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));  // wait() returns early, and is called again
}

}  // namespace

ProcessWatch::ProcessWatch()
    : poll_(made(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      bell_(made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  if (!listen_to(poll_.get(), bell_.get(), bell_event))
    throw std::system_error(errno, std::generic_category(), "epoll");
}

void ProcessWatch::add(const os::ProcessIdentity& process) {
  {
    const std::lock_guard lock(mutex_);
    const PidAndStart key{process.pid, process.start_ticks};
    if (watched_.contains(key)) return;
    const WatchNumber number = ++last_;
    os::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
    if (pidfd && !listen_to(poll_.get(), pidfd.get(), number)) pidfd.reset();
    // The number may have passed to another process just now: then the identity says that ours has ended.
    if (!os::is_alive(process)) pidfd.reset();
    watched_.emplace(key, Watched{number, std::move(pidfd)});
  }
  wake();  // wait() may have to look again sooner
}

bool ProcessWatch::has_unwatched() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(watched_.begin(), watched_.end(), [](const auto& item) { return !item.second.pidfd; });
}

std::vector<os::ProcessIdentity> ProcessWatch::take_ended(const std::vector<WatchNumber>& told) {
  std::vector<os::ProcessIdentity> ended;
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const auto& item) {
    const auto& [key, watched] = item;
    const os::ProcessIdentity process{key.first, key.second};
    const bool is_told = std::find(told.begin(), told.end(), watched.number) != told.end();
    const bool over = is_told || (!watched.pidfd && !os::is_alive(process));
    if (over) ended.push_back(process);
    return over;
  });
  return ended;
}

std::vector<os::ProcessIdentity> ProcessWatch::wait(Time until) {
  constexpr int at_once = 64;
  if (has_unwatched()) until = std::min(until, os::now() + look_again);
  if (auto over = take_ended({}); !over.empty()) return over;
  epoll_event events[at_once];
  const int count = std::max(0, ::epoll_wait(poll_.get(), events, at_once, milliseconds_until(until)));
  std::vector<WatchNumber> told;
  for (int i = 0; i < count; ++i) told.push_back(WatchNumber{events[i].data.u64});  // a copy: the structure is packed
  std::uint64_t rung = 0;
  (void)!::read(bell_.get(), &rung, sizeof rung);
  return take_ended(told);
}

void ProcessWatch::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

}  // namespace corelane::nameserver
