// ZeroC Ice's client. Its proxies share one connection by default; with --kind own each caller has one of its own.
#include <Ice/Ice.h>
#include <echo.h>

#include <atomic>
#include <string>

#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"

namespace {

using Proxy = std::shared_ptr<PeersIce::EchoServerPrx>;

class IceCaller : public peers::Caller {
 public:
  explicit IceCaller(Proxy echo) : echo_(std::move(echo)), oneway_(echo_->ice_oneway()) {}

  std::int64_t ping(std::int64_t value) override { return echo_->ping(value); }
  void push(peers::Octets octets) override { oneway_->push(argument(octets)); }
  std::int64_t pushed() override { return echo_->pushed(); }
  peers::Octets echo(peers::Octets octets) override {
    result_ = {};  // like a caller whose last result has gone out of scope
    return result_ = echo_->echo(argument(octets));
  }
  peers::Octets get(std::size_t size) override {
    result_ = {};
    return result_ = echo_->get(static_cast<int>(size));
  }
  void put(peers::Octets octets) override { echo_->put(argument(octets)); }

 private:
  // The driver passes the same octets in each call, so they are copied into the mapping's type once.
  const PeersIce::Octets& argument(peers::Octets octets) {
    if (argument_.size() != octets.size()) argument_.assign(octets.begin(), octets.end());
    return argument_;
  }

  Proxy echo_, oneway_;
  PeersIce::Octets argument_, result_;
};

class IcePeer : public peers::Peer {
 public:
  IcePeer(Proxy echo, bool has_own_connections) : echo_(std::move(echo)), has_own_connections_(has_own_connections) {}

  std::unique_ptr<peers::Caller> connect() override {
    if (!has_own_connections_) return std::make_unique<IceCaller>(echo_);
    const int number = callers_.fetch_add(1, std::memory_order_relaxed);  // relaxed: each caller gets another number
    return std::make_unique<IceCaller>(
        Ice::uncheckedCast<PeersIce::EchoServerPrx>(echo_->ice_connectionId(std::to_string(number))));
  }

 private:
  Proxy echo_;
  bool has_own_connections_;
  std::atomic<int> callers_{0};
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  Ice::InitializationData data;
  data.properties = Ice::createProperties();
  data.properties->setProperty("Ice.MessageSizeMax", "0");  // no limit
  const Ice::CommunicatorHolder communicator(argc, argv, data);
  const auto options = peers::client_options(argc, argv);
  IcePeer peer(Ice::uncheckedCast<PeersIce::EchoServerPrx>(communicator->stringToProxy(options.address)),
               options.kind == "own");
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
