// ZeroC Ice's echo server with its defaults, except for the longest message: the default is shorter than 1 MiB and a
// header. --address is an endpoint, such as "tcp -h 127.0.0.1".
#include <Ice/Ice.h>
#include <echo.h>

#include <atomic>

#include "bench/peers/driver/caller.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"

namespace {

class IceEcho : public PeersIce::EchoServer {
 public:
  long long ping(long long value, const Ice::Current&) override { return value + 1; }
  void push(PeersIce::Octets, const Ice::Current&) override {
    pushed_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a counter that publishes nothing
  }
  long long pushed(const Ice::Current&) override {
    return pushed_.load(std::memory_order_relaxed);  // relaxed: as above
  }
  PeersIce::Octets echo(PeersIce::Octets data, const Ice::Current&) override { return data; }
  void put(PeersIce::Octets data, const Ice::Current&) override { peers::check_octets(data, data.size()); }
  PeersIce::Octets get(int size, const Ice::Current&) override {
    PeersIce::Octets data(static_cast<std::size_t>(size));
    if (!data.empty()) data.back() = peers::last_octet(data.size());
    return data;
  }

 private:
  std::atomic<long long> pushed_{0};
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  Ice::InitializationData data;
  data.properties = Ice::createProperties();
  data.properties->setProperty("Ice.MessageSizeMax", "0");  // no limit
  const Ice::CommunicatorHolder communicator(argc, argv, data);
  const auto options = peers::server_options(argc, argv);
  const auto adapter = communicator->createObjectAdapterWithEndpoints("echo", options.address);
  const auto proxy = adapter->add(std::make_shared<IceEcho>(), Ice::stringToIdentity("echo"));
  adapter->activate();
  peers::announce(communicator->proxyToString(proxy));
  peers::serve_until_killed();
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
