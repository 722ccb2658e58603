// A ThreadPool's connections are byte streams like all others.
#include "orb/leader_followers/transport.h"
#include "orb/transport/tcp.h"
#include "tests/support/stream_harness.h"

namespace corelane::testing {

struct PooledTcp {
  static std::optional<std::string> missing() { return std::nullopt; }
  static transport::Endpoint anywhere() { return {"127.0.0.1", 0}; }
  static std::unique_ptr<transport::Transport> make(transport::Reactor& reactor,
                                                    const transport::ConnectionLimits& limits) {
    auto pool = leader_followers::ThreadPool::start({.threads = 3});
    REQUIRE(pool);
    return std::make_unique<leader_followers::LeaderFollowersTransport>(
        std::make_unique<transport::TcpTransport>(reactor, limits), reactor, std::move(*pool));
  }
};

}  // namespace corelane::testing

using ByteTransports = std::tuple<corelane::testing::PooledTcp>;
#include "tests/support/byte_transport_suite.h"
