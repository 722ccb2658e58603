// omniORB's client. The runner chooses the number of connections with -ORBmaxGIOPConnectionPerServer.
#include <stdexcept>

#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"
#include "bench/peers/omniorb/servant.h"

namespace {

// Makes a call and turns a CORBA exception, which is not a std::exception in this mapping, into one.
template <typename Call>
auto made(Call&& call) {
  try {
    return call();
  } catch (const CORBA::SystemException& fault) {
    const char* minor = fault.NP_minorString();
    throw std::runtime_error(std::string(fault._name()) + (minor == nullptr ? "" : std::string(" ") + minor));
  } catch (const CORBA::Exception& fault) {
    throw std::runtime_error(fault._name());
  }
}

class OmniCaller : public peers::Caller {
 public:
  explicit OmniCaller(Peers::EchoServer_ptr echo) : echo_(Peers::EchoServer::_duplicate(echo)) {}

  std::int64_t ping(std::int64_t value) override {
    return made([&] { return echo_->ping(value); });
  }
  void push(peers::Octets octets) override {
    made([&] { echo_->push(argument(octets)); });
  }
  std::int64_t pushed() override {
    return made([&] { return echo_->pushed(); });
  }
  peers::Octets echo(peers::Octets octets) override {
    result_ = nullptr;  // like a caller whose last result has gone out of scope
    result_ = made([&] { return echo_->echo(argument(octets)); });
    return peers::octets_of(result_.in());
  }
  peers::Octets get(std::size_t size) override {
    result_ = nullptr;
    result_ = made([&] { return echo_->get(static_cast<CORBA::ULong>(size)); });
    return peers::octets_of(result_.in());
  }
  void put(peers::Octets octets) override {
    made([&] { echo_->put(argument(octets)); });
  }

 private:
  // Refers to the octets without a copy.
  static Peers::Octets argument(peers::Octets octets) {
    const auto size = static_cast<CORBA::ULong>(octets.size());
    return {size, size, const_cast<CORBA::Octet*>(octets.data()), false};
  }

  Peers::EchoServer_var echo_;
  Peers::Octets_var result_;
};

class OmniPeer : public peers::Peer {
 public:
  explicit OmniPeer(Peers::EchoServer_ptr echo) : echo_(Peers::EchoServer::_duplicate(echo)) {}
  std::unique_ptr<peers::Caller> connect() override { return std::make_unique<OmniCaller>(echo_.in()); }

 private:
  Peers::EchoServer_var echo_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "omniORB4");
  const auto options = peers::client_options(argc, argv);
  CORBA::Object_var object = orb->string_to_object(options.address.c_str());
  Peers::EchoServer_var echo = Peers::EchoServer::_narrow(object);
  OmniPeer peer(echo.in());
  return peers::run_client(options, peer);
} catch (const CORBA::Exception& fault) {
  return peers::fail(fault._name());
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
