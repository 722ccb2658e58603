#include "orb/core/server/dedicated_connection.h"

#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/lock.h"

namespace corelane::core {
namespace {

constexpr Error no_such_task{ErrorKind::bad_param, Completion::no, minor::unknown_task};

// A connection needs a descriptor, and so does the eventfd that wakes the task's thread.
bool has_descriptors_for_one() noexcept {
  const os::Fd connection(eventfd(0, EFD_CLOEXEC));
  const os::Fd bell(eventfd(0, EFD_CLOEXEC));
  return connection && bell;
}

// The most time between the timestamp of a packet and its arrival in the socket's queue.
constexpr Duration on_its_way = std::chrono::milliseconds{1};

}  // namespace

Time plausible(Time stamp, Time empty_at, Time (*now)() noexcept) noexcept {
  return stamp < empty_at - on_its_way ? now() : std::max(stamp, empty_at);
}

std::uint64_t BindTokens::make_token() noexcept {
  if (!has_descriptors_for_one()) return 0;
  std::uint64_t token = 0;
  return getrandom(&token, sizeof token, 0) == sizeof token ? token : 0;
}

void BindTokens::issue(TaskId task, std::uint64_t token, const std::shared_ptr<ServerConnection>& owner) {
  const os::LockGuard lock(mutex_);
  entries_.insert_or_assign(task, Entry{.token = token, .owner = owner->id(), .connection = owner});
}

std::shared_ptr<ServerConnection> BindTokens::claim(TaskId task, std::uint64_t token) noexcept {
  const os::LockGuard lock(mutex_);
  const auto issue = entries_.find(task);
  if (issue == entries_.end() || token == 0 || issue->second.token != token) return nullptr;
  auto owner = issue->second.connection.lock();
  entries_.erase(issue);
  return owner;
}

void BindTokens::withdraw(TaskId task) noexcept {
  const os::LockGuard lock(mutex_);
  entries_.erase(task);
}

void BindTokens::withdraw(PeerId owner) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase_if(entries_, [&](const auto& issue) { return issue.second.owner == owner; });
}

DedicatedConnection::DedicatedConnection(std::shared_ptr<ServerConnection> connection,
                                         const std::optional<ReplyTo>& bind)
    : connection_(std::move(connection)), bind_(bind), buffer_(buffer_size) {}

void DedicatedConnection::opened() noexcept {
  opened_ = true;
  empty_at_ = os::now();
  if (bind_) connection_->replies().send_done(*bind_);
}

dispatch::JobSource::Found DedicatedConnection::poll(dispatch::JobPtr& job, Time now) noexcept {
  if (rest_.empty()) {
    const auto got = connection_->take_bytes(buffer_);
    drained_ = false;
    if (!got && got.error().kind == ErrorKind::timeout) {
      empty_at_ = now;
      return now < half_by_ ? Found::nothing : Found::end;
    }
    if (!got || got->bytes.empty()) return Found::end;
    rest_ = got->bytes;
    received_ = plausible(got->at, empty_at_, os::now);
    drained_ = got->drained;
    if (drained_) empty_at_ = now;
  }
  const Found found = connection_->next_job(rest_, received_, job);
  if (const auto half_by = connection_->reader().update_deadline(now)) half_by_ = *half_by;
  return found;
}

void DedicatedConnection::lend() noexcept {
  if (std::exchange(lent_, true)) return connection_->binding().lend_on(true);
  connection_->lend(std::exchange(rest_, {}), received_, half_by_);
}

// Gives the connection back to the reactor, which frees its resources. The calling thread has deadlines to meet, so it
// does not do that itself.
void DedicatedConnection::close() noexcept {
  if (!opened_ && bind_) connection_->replies().send_exception(*bind_, no_such_task);
  lent_ ? connection_->replies().close_orderly() : connection_->release();
}

}  // namespace corelane::core
