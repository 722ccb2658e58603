#include "orb/transport/detail/channel_listener.h"

#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/transport/detail/channel_link.h"
#include "orb/transport/detail/stream_connection.h"

namespace corelane::transport {
namespace {

constexpr std::chrono::seconds quiet_time{10};                // between two lines of the log
constexpr std::chrono::milliseconds no_resources_pause{100};  // until descriptors or memory may be there again

}  // namespace

Expected<std::unique_ptr<Listener>> ChannelListener::start(SocketPath path, channel::Listener door,
                                                           std::shared_ptr<Shared> shared) {
  const auto reactor = shared->reactor;
  std::unique_ptr<ChannelListener> made(new ChannelListener(std::move(path), std::move(door), std::move(shared)));
  if (!reactor->post([] {})) return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::shutting_down};
  auto thread = os::start_thread({.name = "corelane-door"}, [self = made.get()] { self->run(); });
  if (!thread) return thread.error();
  made->thread_ = std::move(*thread);
  return std::unique_ptr<Listener>(std::move(made));
}

void ChannelListener::run() {
  // Bound: until stop(); each turn waits for somebody, or was told of one who was not welcome.
  while (true) try {
      auto channel = door_.accept(never);
      if (channel) {
        admit(std::move(*channel));
        continue;
      }
      const channel::SetupFault& fault = channel.error();
      if (fault.kind == channel::SetupFault::Kind::stopped) return;
      say("channel at " + shared_->endpoint.path + ": " + fault.text);
      if (fault.kind == channel::SetupFault::Kind::system) os::sleep_until(os::now() + no_resources_pause);
    } catch (const std::bad_alloc&) {
      os::sleep_until(os::now() + no_resources_pause);
    }
}

// Over the limits: the channel ends at once.
void ChannelListener::admit(channel::Channel channel) {
  const std::string peer = "user " + std::to_string(channel.peer().user);
  auto ticket = shared_->census->enter(peer);
  if (!ticket) return say("channel from " + peer + " refused: limits.connections or limits.connections_per_peer");
  auto link = ChannelLink::make(std::move(channel), shared_->endpoint, channel_endpoint({}));
  if (!link) return say("out of file descriptors: a channel could not be watched; raise ulimit -n");
  auto connection =
      std::make_shared<StreamConnection>(std::move(*link), shared_->reactor, shared_->limits, std::move(ticket));
  shared_->reactor->post([shared = shared_, connection = std::move(connection)] {
    if (shared->stopped) return;
    const Acceptor acceptor = shared->acceptor;  // stop() inside it ends this listener, not the call
    acceptor(connection);
  });
}

// What comes and goes with every connection is said once in a while.
void ChannelListener::say(const std::string& text) {
  const Time now = os::now();
  if (now < quiet_until_) return;
  quiet_until_ = now + quiet_time;
  os::log::warn(text);
}

void ChannelListener::stop() noexcept {
  path_.reset();  // first, so that nobody finds a socket where connecting is refused
  door_.stop();
  thread_.join();
  const auto end = [shared = shared_] { shared->stopped = true; };
  if (!shared_->reactor->run_and_wait(end)) end();  // the reactor's thread has ended: this one stands in for it
}

}  // namespace corelane::transport
