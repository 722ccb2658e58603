#include "orb/leader_followers/transport.h"

#include <sys/eventfd.h>

#include <utility>

#include "orb/leader_followers/pooled_connection.h"
#include "orb/os/fd.h"
#include "orb/transport/detail/reactor_impl.h"

namespace corelane::leader_followers {

using transport::Acceptor;
using transport::Connection;
using transport::Endpoint;
using transport::Listener;

// StopHook stops the pool when the reactor stops. It waits for no event: its descriptor is never ready.
class LeaderFollowersTransport::StopHook final : public transport::ReadinessHandler,
                                                 public std::enable_shared_from_this<StopHook> {
 public:
  StopHook(std::shared_ptr<transport::Reactor::Impl> reactor, std::shared_ptr<ThreadPool> pool)
      : reactor_(std::move(reactor)), pool_(std::move(pool)), fd_(eventfd(0, EFD_CLOEXEC)) {}

  void install() {
    reactor_->run_and_wait([this] { readiness_ = reactor_->watch(fd_.get(), shared_from_this()); });
  }
  void withdraw() {
    reactor_->run_and_wait([this] { readiness_.reset(); });
  }

  void on_readable() noexcept override {}
  void on_writable() noexcept override {}
  void on_stopping() noexcept override {
    readiness_.reset();
    pool_->stop();
  }

 private:
  const std::shared_ptr<transport::Reactor::Impl> reactor_;
  const std::shared_ptr<ThreadPool> pool_;
  const os::Fd fd_;
  std::unique_ptr<transport::Readiness> readiness_;  // owner: the reactor's thread
};

LeaderFollowersTransport::LeaderFollowersTransport(std::unique_ptr<transport::Transport> below,
                                                   transport::Reactor& reactor, std::unique_ptr<ThreadPool> pool)
    : below_(std::move(below)),
      reactor_(reactor),
      pool_(std::move(pool)),
      stop_hook_(std::make_shared<StopHook>(reactor.impl(), pool_)) {
  stop_hook_->install();
}

LeaderFollowersTransport::~LeaderFollowersTransport() {
  stop_hook_->withdraw();
  pool_->stop();
}

std::shared_ptr<Connection> LeaderFollowersTransport::pooled(std::shared_ptr<Connection> connection) const {
  return std::make_shared<PooledConnection>(std::move(connection), pool_, reactor_, limits());
}

Expected<std::shared_ptr<Connection>> LeaderFollowersTransport::connect(const Endpoint& endpoint, Time deadline) {
  auto connection = below_->connect(endpoint, deadline);
  if (!connection) return connection.error();
  return pooled(std::move(*connection));
}

Expected<std::unique_ptr<Listener>> LeaderFollowersTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  return below_->listen(endpoint, [this, acceptor = std::move(acceptor)](std::shared_ptr<Connection> connection) {
    acceptor(pooled(std::move(connection)));
  });
}

}  // namespace corelane::leader_followers
