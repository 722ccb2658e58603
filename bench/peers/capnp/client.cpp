// Cap'n Proto's client. An event loop belongs to a thread, so each caller has a connection of its own.
#include <capnp/ez-rpc.h>

#include <optional>
#include <stdexcept>

#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"
#include "echo.capnp.h"

namespace {

// Makes a call and turns a kj::Exception, which is not a std::exception, into one.
template <typename Call>
auto made(Call&& call) {
  try {
    return call();
  } catch (const kj::Exception& fault) {
    throw std::runtime_error(fault.getDescription().cStr());
  }
}

class CapnpCaller : public peers::Caller {
 public:
  explicit CapnpCaller(const std::string& address) : client_(address.c_str()), echo_(client_.getMain<EchoServer>()) {}
  ~CapnpCaller() noexcept override = default;  // members of Cap'n Proto may throw in their destructors

  std::int64_t ping(std::int64_t value) override {
    return made([&] {
      auto request = echo_.pingRequest();
      request.setValue(value);
      return request.send().wait(client_.getWaitScope()).getValue();
    });
  }
  peers::Octets echo(peers::Octets octets) override {
    return made([&] {
      auto request = echo_.echoRequest();
      request.setData({octets.data(), octets.size()});
      return kept(echoed_.emplace(request.send().wait(client_.getWaitScope())).getData());
    });
  }
  peers::Octets get(std::size_t size) override {
    return made([&] {
      auto request = echo_.getRequest();
      request.setSize(static_cast<std::uint32_t>(size));
      return kept(got_.emplace(request.send().wait(client_.getWaitScope())).getData());
    });
  }
  void put(peers::Octets octets) override {
    made([&] {
      auto request = echo_.putRequest();
      request.setData({octets.data(), octets.size()});
      request.send().wait(client_.getWaitScope());
    });
  }

 private:
  static peers::Octets kept(capnp::Data::Reader data) { return {data.begin(), data.size()}; }

  capnp::EzRpcClient client_;
  EchoServer::Client echo_;
  std::optional<capnp::Response<EchoServer::EchoResults>> echoed_;  // holds the octets of the last result
  std::optional<capnp::Response<EchoServer::GetResults>> got_;
};

class CapnpPeer : public peers::Peer {
 public:
  explicit CapnpPeer(std::string address) : address_(std::move(address)) {}
  std::unique_ptr<peers::Caller> connect() override {
    return made([&] { return std::make_unique<CapnpCaller>(address_); });
  }

 private:
  std::string address_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::client_options(argc, argv);
  CapnpPeer peer(options.address);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
