// The memory of a connection through a channel. It grows when something long is sent (channel::Options::grows), as far
// as the peer's account lets it; where it may not, long messages go through the ring in pieces. While
// it may shrink the reactor looks once in a second, and once nothing long was sent for such a time an ordinary thread
// gives back what no message uses. A connection of tasks has all of it, and never shrinks.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "orb/channel/channel.h"
#include "orb/os/clock.h"
#include "orb/os/closer.h"
#include "orb/transport/detail/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds between_memory_looks{1};
// Bytes that are taken or given back under the connection's lock: some tens of microseconds.
constexpr std::size_t memory_slice = 256 * 1024;

}  // namespace

std::size_t StreamConnection::channel_memory() const noexcept {
  const channel::Channel* const channel = link_->channel();
  return channel == nullptr ? 0 : channel->memory();
}

// Under the lock: whether watch_memory() is to be called without it.
bool StreamConnection::has_grown() noexcept {
  const channel::Channel* const channel = link_->channel();
  return channel != nullptr && channel->may_shrink() && !std::exchange(memory_watched_, true);
}

// After has_grown(). The next long message tries again what fails here.
void StreamConnection::watch_memory() noexcept {
  try {
    const TimerId timer = reactor_->schedule(os::now() + between_memory_looks, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look_at_memory_on_reactor();
    });
    if (timer != TimerId{0}) return;
  } catch (const std::bad_alloc&) {
    // As when the reactor has stopped.
  }
  const std::lock_guard lock(mutex_);
  memory_watched_ = false;
}

void StreamConnection::look_at_memory_on_reactor() noexcept {
  bool is_quiet = false;
  {
    const std::lock_guard lock(mutex_);
    memory_watched_ = is_open() && link_->channel()->may_shrink();
    if (!memory_watched_) return;
    is_quiet = link_->channel()->was_quiet();
  }
  if (!is_quiet || !do_elsewhere(&StreamConnection::shrink)) watch_memory();
}

// Goes on watching while a reader keeps what it was lent. Thread: an ordinary one.
void StreamConnection::shrink() noexcept {
  bool more = true;
  while (more) {  // bound: the chunks, as nothing long is sent meanwhile
    const std::lock_guard lock(mutex_);
    more = link_->channel()->was_quiet() && link_->channel()->give_back_some(memory_slice);
    if (!more) memory_watched_ = link_->channel()->may_shrink();
    if (!more && !memory_watched_) return;
  }
  watch_memory();
}

// Thread: an ordinary one.
void StreamConnection::keep_memory() noexcept {
  channel::Channel* const channel = link_->channel();
  if (channel == nullptr) return;
  bool more = true;
  while (more) {  // bound: the chunks
    const std::lock_guard lock(mutex_);
    more = channel->take_some(memory_slice);
  }
  channel->hold_memory();
}

// On an ordinary thread, soon. False: there is no such thread, or no memory.
bool StreamConnection::do_elsewhere(void (StreamConnection::*what)() noexcept) noexcept {
  struct Order {
    std::shared_ptr<StreamConnection> connection;
    void (StreamConnection::*what)() noexcept;
  };
  const auto run = [](const os::Closer::Task& task) noexcept {
    const std::unique_ptr<Order> order(static_cast<Order*>(task.base));
    (order->connection.get()->*order->what)();
  };
  const auto order = new (std::nothrow) Order{weak_from_this().lock(), what};
  if (order == nullptr) return false;
  if (order->connection && os::Closer::of_memory().take({.run = run, .base = order})) return true;
  delete order;
  return false;
}

}  // namespace corelane::transport
