// A ThreadPool's connections are byte streams like all others.
#include "orb/leader_followers/transport.h"
#include "tests/orb/transport/kinds.h"

namespace corelane::testing {

// The streams of `Kind`, read by the threads of a pool.
template <typename Kind>
struct Pooled : Kind {
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    auto pool = leader_followers::ThreadPool::start({.threads = 3});
    REQUIRE(pool);
    return std::make_unique<leader_followers::LeaderFollowersTransport>(Kind::make(reactor, limits), reactor,
                                                                        std::move(*pool));
  }
};

}  // namespace corelane::testing

using ByteTransports = std::tuple<corelane::testing::Pooled<corelane::testing::TcpV4>,
                                  corelane::testing::Pooled<corelane::testing::SharedMemory>>;
#include "tests/support/byte_transport_suite.h"
