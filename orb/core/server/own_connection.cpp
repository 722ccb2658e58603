#include "orb/core/server/own_connection.h"

#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"

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

Time plausible(Time stamp, Time empty_at, Time read_at) noexcept {
  return stamp < empty_at - on_its_way ? read_at : std::clamp(stamp, std::min(empty_at, read_at), read_at);
}

std::uint64_t TaskOffers::make_token() noexcept {
  if (!has_descriptors_for_one()) return 0;
  std::uint64_t token = 0;
  return getrandom(&token, sizeof token, 0) == sizeof token ? token : 0;
}

void TaskOffers::offer(TaskId task, std::uint64_t token, const std::shared_ptr<ServerConnection>& owner) {
  const std::lock_guard lock(mutex_);
  offers_.insert_or_assign(task, Offer{.token = token, .owner = owner->id(), .connection = owner});
}

std::shared_ptr<ServerConnection> TaskOffers::claim(TaskId task, std::uint64_t token) noexcept {
  const std::lock_guard lock(mutex_);
  const auto offer = offers_.find(task);
  if (offer == offers_.end() || token == 0 || offer->second.token != token) return nullptr;
  auto owner = offer->second.connection.lock();
  offers_.erase(offer);
  return owner;
}

void TaskOffers::withdraw(TaskId task) noexcept {
  const std::lock_guard lock(mutex_);
  offers_.erase(task);
}

void TaskOffers::withdraw(PeerId owner) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(offers_, [&](const auto& offer) { return offer.second.owner == owner; });
}

OwnConnection::OwnConnection(std::shared_ptr<ServerConnection> connection, const std::optional<ReplyTo>& bind)
    : connection_(std::move(connection)), bind_(bind), buffer_(buffer_size) {}

void OwnConnection::opened() noexcept {
  opened_ = true;
  empty_at_ = os::now();
  if (bind_) connection_->send_done(*bind_);
}

dispatch::JobSource::Found OwnConnection::poll(dispatch::JobPtr& job, Time now) noexcept {
  if (rest_.empty()) {
    const auto got = connection_->take_bytes(buffer_);
    drained_ = false;
    if (!got && got.error().kind == ErrorKind::timeout) {
      empty_at_ = now;
      return now < half_by_ ? Found::nothing : Found::end;
    }
    if (!got || got->bytes.empty()) return Found::end;
    rest_ = got->bytes;
    received_ = plausible(got->at, empty_at_, os::now());
    drained_ = got->drained;
    if (drained_) empty_at_ = now;
  }
  const Found found = connection_->next_job(rest_, received_, job);
  if (const auto half_by = connection_->half_message(now)) half_by_ = *half_by;
  return found;
}

void OwnConnection::lend() noexcept {
  if (std::exchange(lent_, true)) return connection_->lend_on(true);
  connection_->lend(std::exchange(rest_, {}), received_, half_by_);
}

// Gives the connection back to the reactor, which frees its resources. A thread with a deadline does not.
void OwnConnection::close() noexcept {
  if (!opened_ && bind_) connection_->send_exception(*bind_, no_such_task);
  lent_ ? connection_->close_orderly() : connection_->release();
}

}  // namespace corelane::core
