// ChannelMemory is the memory of a connection through a channel. It grows when something long is sent
// (channel::Options::grows), as far as the peer's account allows. If it may not grow, long messages go through the ring
// in pieces.
// While the memory may shrink, the reactor checks it once a second. If nothing long was sent for a second, an ordinary
// thread gives back what no message uses. A connection of tasks has all memory, and never shrinks.
//
// Threads: any. One lock, that of the connection, guards the channel's sending end. A connection without a channel has
// a ChannelMemory, too, which does nothing.
#pragma once

#include <cstddef>
#include <memory>

#include "orb/base/thread_safety.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/memory_budget.h"
#include "orb/transport/stream/stream_end.h"

namespace corelane::channel {
class Channel;
class GrowthMeter;
}  // namespace corelane::channel

namespace corelane::transport {

class ChannelMemory {
 public:
  // What keeps this object alive while another thread works for it.
  using Owner = std::shared_ptr<const void>;

  // `channel`: null if the connection is a socket. `account`: counts what the channel takes; null: nothing does. The
  // mutex and `end` are the connection's.
  ChannelMemory(channel::Channel* channel, std::shared_ptr<MemoryAccount> account,
                std::shared_ptr<Reactor::Impl> reactor, os::PiMutex& mutex, const StreamEnd& end);
  ~ChannelMemory();

  // Returns the bytes that this end has taken from the system.
  std::size_t bytes() const noexcept;
  // Takes all memory that messages may need, and keeps it. Thread: an ordinary one.
  void keep() noexcept;
  // Does so soon on an ordinary thread.
  void keep_soon(Owner owner) noexcept;
  // Returns whether watch() must be called. Call this under the lock, and watch() without it.
  bool has_grown() noexcept;
  // Starts the timer, after has_grown(). If it fails, the next long message tries again.
  void watch(const std::weak_ptr<const void>& owner) noexcept;

 private:
  class Meter;
  using Work = void (ChannelMemory::*)(const Owner& owner) noexcept;

  void check_on_reactor(const Owner& owner) noexcept;
  void shrink(const Owner& owner) noexcept;
  void keep_kept(const Owner&) noexcept { keep(); }
  bool do_elsewhere(Owner owner, Work work) noexcept;

  channel::Channel* const channel_;
  const std::shared_ptr<Reactor::Impl> reactor_;
  const std::unique_ptr<Meter> meter_;
  os::PiMutex& mutex_;
  const StreamEnd& end_;
  bool watched_ CORELANE_GUARDED_BY(mutex_) = false;  // a timer or thread takes care of shrinking it
};

}  // namespace corelane::transport
