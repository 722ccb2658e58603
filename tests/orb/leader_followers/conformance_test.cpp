// Runs the conformance suite of byte streams with the connections of a ThreadPool, over each transport.
#include <memory>
#include <tuple>
#include <utility>

#include "orb/leader_followers/transport.h"
#include "tests/orb/transport/kinds.h"

namespace corelane::testing {

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
                                  corelane::testing::Pooled<corelane::testing::UnixSocket>,
                                  corelane::testing::Pooled<corelane::testing::SharedMemory>,
                                  corelane::testing::Pooled<corelane::testing::SharedByUsers>>;
#include "tests/support/byte_transport_suite.h"
