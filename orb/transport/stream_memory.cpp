// The memory of a connection through a channel. It grows when something long is sent (channel::Options::grows), as far
// as the peer's account allows. If it may not grow, long messages go through the ring in pieces.
// While the memory may shrink, the reactor checks it once a second. If nothing long was sent for a second, an ordinary
// thread gives back what no message uses. A connection of tasks has all memory, and never shrinks.
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "orb/channel/channel.h"
#include "orb/os/clock.h"
#include "orb/os/threads/closer.h"
#include "orb/transport/detail/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds between_memory_looks{1};
// The bytes that are taken or given back under the connection's lock at once: some tens of microseconds.
constexpr std::size_t memory_slice = 256 * 1024;

}  // namespace

std::size_t StreamConnection::channel_memory() const noexcept {
  const channel::Channel* const channel = link_->channel();
  return channel == nullptr ? 0 : channel->memory();
}

// Returns whether watch_memory() must be called. Call this under the lock, and watch_memory() without it.
bool StreamConnection::has_grown() noexcept {
  const channel::Channel* const channel = link_->channel();
  return channel != nullptr && channel->may_shrink() && !std::exchange(memory_watched_, true);
}

// Starts the timer, after has_grown(). If it fails, the next long message tries again.
void StreamConnection::watch_memory() noexcept {
  try {
    const TimerId timer = reactor_->schedule(os::now() + between_memory_looks, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look_at_memory_on_reactor();
    });
    if (timer != TimerId{0}) return;
  } catch (const std::bad_alloc&) {
    // Treated as if the reactor had stopped.
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

// Gives memory back. Continues to watch while a reader keeps what it was lent. Thread: an ordinary one.
void StreamConnection::shrink() noexcept {
  bool more = true;
  while (more) {  // bound: the chunks, because the loop ends if something long is sent meanwhile
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

// Runs the function soon on an ordinary thread. Returns false if there is no such thread, or no memory.
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
