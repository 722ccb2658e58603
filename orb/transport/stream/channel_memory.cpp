#include "orb/transport/stream/channel_memory.h"

#include <chrono>
#include <new>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/channel/channel.h"
#include "orb/channel/growth_meter.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/threads/closer.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds between_checks{1};
// The bytes that are taken or given back under the connection's lock at once: some tens of microseconds.
constexpr std::size_t slice = 256 * 1024;

}  // namespace

// Meter makes the peer's account count what its channel takes.
class ChannelMemory::Meter final : public channel::GrowthMeter {
 public:
  explicit Meter(std::shared_ptr<MemoryAccount> account) noexcept : account_(std::move(account)) {}
  bool take(std::size_t bytes, bool is_promised) noexcept override {
    return account_->grow_channel(bytes, is_promised);
  }
  void give_back(std::size_t bytes) noexcept override { account_->shrink_channel(bytes); }

 private:
  const std::shared_ptr<MemoryAccount> account_;
};

ChannelMemory::ChannelMemory(channel::Channel* channel, std::shared_ptr<MemoryAccount> account,
                             std::shared_ptr<Reactor::Impl> reactor, os::PiMutex& mutex, const StreamEnd& end)
    : channel_(channel),
      reactor_(std::move(reactor)),
      meter_(account && channel != nullptr ? std::make_unique<Meter>(std::move(account)) : nullptr),
      mutex_(mutex),
      end_(end) {
  if (meter_) channel_->measure_growth(meter_.get());
}

ChannelMemory::~ChannelMemory() = default;

std::size_t ChannelMemory::bytes() const noexcept { return channel_ == nullptr ? 0 : channel_->memory(); }

// No analysis: the caller knows the mutex by another name.
bool ChannelMemory::has_grown() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  return channel_ != nullptr && channel_->may_shrink() && !std::exchange(watched_, true);
}

void ChannelMemory::watch(const std::weak_ptr<const void>& owner) noexcept {
  try {
    const TimerId timer = reactor_->schedule(os::now() + between_checks, [this, owner] {
      if (const auto kept = owner.lock()) check_on_reactor(kept);
    });
    if (timer != TimerId{0}) return;
  } catch (const std::bad_alloc&) {
    // Treated as if the reactor had stopped.
  }
  const os::LockGuard lock(mutex_);
  watched_ = false;
}

void ChannelMemory::check_on_reactor(const Owner& owner) noexcept {
  bool is_quiet = false;
  {
    const os::LockGuard lock(mutex_);
    watched_ = end_.is_open() && channel_->may_shrink();
    if (!watched_) return;
    is_quiet = channel_->was_quiet();
  }
  if (!is_quiet || !do_elsewhere(owner, &ChannelMemory::shrink)) watch(owner);
}

// Gives memory back. Continues to watch while a reader keeps what it was lent. Thread: an ordinary one.
void ChannelMemory::shrink(const Owner& owner) noexcept {
  bool more = true;
  while (more) {  // bound: the chunks, because the loop ends if something long is sent meanwhile
    const os::LockGuard lock(mutex_);
    more = channel_->was_quiet() && channel_->give_back_some(slice);
    if (!more) watched_ = channel_->may_shrink();
    if (!more && !watched_) return;
  }
  watch(owner);
}

void ChannelMemory::keep() noexcept {
  if (channel_ == nullptr) return;
  bool more = true;
  while (more) {  // bound: the chunks
    const os::LockGuard lock(mutex_);
    more = channel_->take_some(slice);
  }
  channel_->hold_memory();
}

void ChannelMemory::keep_soon(Owner owner) noexcept {
  if (channel_ != nullptr) do_elsewhere(std::move(owner), &ChannelMemory::keep_kept);
}

// Runs the function soon on an ordinary thread. Returns false if there is no such thread, or no memory.
bool ChannelMemory::do_elsewhere(Owner owner, Work work) noexcept {
  struct Order {
    Owner owner;
    ChannelMemory* memory;
    Work work;
  };
  const auto run = [](const os::Closer::Task& task) noexcept {
    const std::unique_ptr<Order> order(static_cast<Order*>(task.base));
    (order->memory->*order->work)(order->owner);
  };
  const auto order = new (std::nothrow) Order{std::move(owner), this, work};
  if (order == nullptr) return false;
  if (order->owner && os::Closer::of_memory().take({.run = run, .base = order})) return true;
  delete order;
  return false;
}

}  // namespace corelane::transport
