// LeaderFollowersTransport wraps another transport, so that a ThreadPool and not the reactor reads its watched
// connections. Watcher::on_bytes() runs on the pool's leader while no other thread reads the stream. So a server that
// runs its requests there is a leader/followers server. Everything else (connecting, listening, sending, receiving) is
// done by the transport below. tests/support/byte_transport_suite.h says what it must do, as for every byte transport.
#pragma once

#include <memory>

#include "orb/leader_followers/thread_pool.h"
#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"

namespace corelane::leader_followers {

class LeaderFollowersTransport final : public transport::Transport {
 public:
  // `below` and `reactor` outlive this object and its connections; `reactor` is that of `below` and runs the timers
  // here. Listeners made here end before it. When the reactor stops, the pool stops.
  LeaderFollowersTransport(std::unique_ptr<transport::Transport> below, transport::Reactor& reactor,
                           std::unique_ptr<ThreadPool> pool);
  ~LeaderFollowersTransport() override;

  Expected<std::shared_ptr<transport::Connection>> connect(const transport::Endpoint& endpoint, Time deadline) override;
  Expected<std::unique_ptr<transport::Listener>> listen(const transport::Endpoint& endpoint,
                                                        transport::Acceptor acceptor) override;
  const transport::ConnectionLimits& limits() const noexcept override { return below_->limits(); }

 private:
  class StopHook;
  std::shared_ptr<transport::Connection> pooled(std::shared_ptr<transport::Connection> connection) const;

  const std::unique_ptr<transport::Transport> below_;
  transport::Reactor& reactor_;
  const std::shared_ptr<ThreadPool> pool_;
  const std::shared_ptr<StopHook> stop_hook_;
};

}  // namespace corelane::leader_followers
