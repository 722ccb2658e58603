// ChannelListener: sets channels up on a thread of its own, because that maps and allocates, and hands the connections
// to its acceptor on the reactor's ordinary thread.
//
// Threads: the door thread accepts; stop() any; the acceptor runs on the reactor's ordinary thread.
#pragma once

#include <memory>
#include <optional>

#include "orb/channel/listener.h"
#include "orb/os/socket_path.h"
#include "orb/os/thread.h"
#include "orb/transport/channel_options.h"
#include "orb/transport/detail/census.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ChannelListener final : public Listener {
 public:
  // What both threads need. Kept by what is posted to the reactor.
  struct Shared {
    std::shared_ptr<Reactor::Impl> reactor;
    ConnectionLimits limits;
    Endpoint endpoint;
    Acceptor acceptor;
    bool stopped = false;  // owner: the reactor's ordinary thread
  };

  // Of the door: whom the census counts is let in, only with the descriptors that his connection takes, and nobody over
  // what is left for sockets. A channel over which nothing came for a second goes for a newcomer.
  static channel::Options options(std::shared_ptr<ConnectionCensus> census, std::shared_ptr<Reactor::Impl> reactor,
                                  const ChannelOptions& granted);
  // `path` has a listening socket, of which `door` is made, with those options().
  static Expected<std::unique_ptr<Listener>> start(os::SocketPath path, channel::Listener door,
                                                   std::shared_ptr<Shared> shared);
  ~ChannelListener() override { stop(); }

  const Endpoint& endpoint() const noexcept override { return shared_->endpoint; }
  void stop() noexcept override;

 private:
  ChannelListener(os::SocketPath path, channel::Listener door, std::shared_ptr<Shared> shared)
      : path_(std::move(path)), door_(std::move(door)), shared_(std::move(shared)) {}
  void run();
  void admit(channel::Channel channel);
  void say(const std::string& text);

  std::optional<os::SocketPath> path_;
  channel::Listener door_;
  const std::shared_ptr<Shared> shared_;
  // Owner: the door thread.
  Time quiet_until_{};
  std::size_t unsaid_ = 0;
  os::Thread thread_;
};

}  // namespace corelane::transport
