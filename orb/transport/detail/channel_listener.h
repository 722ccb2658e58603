// ChannelListener accepts connections and sets up their channels on a thread of its own, because that maps and
// allocates. It passes the connections to its acceptor on the reactor's ordinary thread.
//
// Threads: the listener's thread ("cl-handshake") accepts; stop() any; the acceptor runs on the reactor's ordinary
// thread.
#pragma once

#include <memory>
#include <optional>

#include "orb/channel/listener.h"
#include "orb/os/socket_path.h"
#include "orb/os/thread.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ChannelListener final : public Listener {
 public:
  // What both threads need. Tasks that are posted to the reactor keep it.
  struct Shared {
    std::shared_ptr<Reactor::Impl> reactor;
    ConnectionLimits limits;
    Endpoint endpoint;
    Acceptor acceptor;
    bool stopped = false;  // owner: the reactor's ordinary thread
  };

  // Returns the options of `listener`. It admits a peer only if the limiter has room for it, and only with the
  // descriptors that its connection takes. It leaves alone the descriptors that are reserved for sockets. A channel
  // over which nothing came for a second ends if a new connection needs its descriptors.
  static channel::Options options(std::shared_ptr<ConnectionLimiter> limiter, std::shared_ptr<Reactor::Impl> reactor,
                                  const ChannelOptions& granted);
  // Starts listening. `path` has a listening socket, and `listener` was made of it with those options().
  static Expected<std::unique_ptr<Listener>> start(os::SocketPath path, channel::Listener listener,
                                                   std::shared_ptr<Shared> shared);
  ~ChannelListener() override { stop(); }

  const Endpoint& endpoint() const noexcept override { return shared_->endpoint; }
  void stop() noexcept override;

 private:
  ChannelListener(os::SocketPath path, channel::Listener listener, std::shared_ptr<Shared> shared)
      : path_(std::move(path)), listener_(std::move(listener)), shared_(std::move(shared)) {}
  void run();
  void admit(channel::Channel channel);
  void say(const std::string& text);

  std::optional<os::SocketPath> path_;
  channel::Listener listener_;
  const std::shared_ptr<Shared> shared_;
  // Owner: the listener's thread.
  Time quiet_until_{};
  std::size_t unlogged_ = 0;
  os::Thread thread_;
};

}  // namespace corelane::transport
