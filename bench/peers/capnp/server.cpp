// Cap'n Proto's echo server with its defaults: one thread. --address is 127.0.0.1 (any port) or unix:PATH.
#include <capnp/ez-rpc.h>

#include <string>
#include <vector>

#include "bench/peers/driver/caller.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "echo.capnp.h"

namespace {

class CapnpEcho final : public EchoServer::Server {
 public:
  kj::Promise<void> ping(PingContext context) override {
    context.getResults().setValue(context.getParams().getValue() + 1);
    return kj::READY_NOW;
  }
  kj::Promise<void> echo(EchoContext context) override {
    context.getResults().setData(context.getParams().getData());
    return kj::READY_NOW;
  }
  kj::Promise<void> put(PutContext context) override {
    const auto data = context.getParams().getData();
    peers::check_octets({data.begin(), data.size()}, data.size());
    return kj::READY_NOW;
  }
  kj::Promise<void> get(GetContext context) override {
    const std::size_t size = context.getParams().getSize();
    auto data = context.getResults().initData(static_cast<capnp::uint>(size));
    if (size > 0) data[size - 1] = peers::last_octet(size);
    return kj::READY_NOW;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::server_options(argc, argv);
  capnp::EzRpcServer server(kj::heap<CapnpEcho>(), options.address.c_str());
  const bool is_local = options.address.starts_with("unix:");
  const auto port = server.getPort().wait(server.getWaitScope());
  peers::announce(is_local ? options.address : options.address + ":" + std::to_string(port));
  kj::NEVER_DONE.wait(server.getWaitScope());
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
} catch (const kj::Exception& fault) {
  return peers::fail(fault.getDescription().cStr());
}
