// The bare socket client. Each caller has a connection of its own.
//
// --address is tcp:PORT, unix:PATH or IOR:... With unix:PATH and --kind IOR:... only the key is taken from the
// reference. So the client can also hold connections to the server of an ORB. With --kind block it sends blocks of 64
// bytes instead, for the servers of bench/latency/hops.cpp.
#include <array>
#include <cstring>
#include <string>

#include "bench/peers/bare/frames.h"
#include "bench/peers/bare/sockets.h"
#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"

namespace {

using namespace peers::bare;
using peers::Octets;

class BareCaller : public peers::Caller {
 public:
  BareCaller(const std::string& address, const std::string& key)
      : socket_(connect_to(address)),
        ping_("ping", key, false),
        push_("push", key, true),
        pushed_("pushed", key, false),
        echo_("echo", key, false),
        put_("put", key, false),
        get_("get", key, false) {}

  std::int64_t ping(std::int64_t value) override { return number_at<std::int64_t>(reply_to(ping_.with(value), {}), 0); }
  void push(Octets octets) override { send_all(socket_.fd(), push_.before(octets.size()), octets); }
  std::int64_t pushed() override { return number_at<std::int64_t>(reply_to(pushed_.alone(), {}), 0); }
  Octets echo(Octets octets) override { return octets_in(reply_to(echo_.before(octets.size()), octets)); }
  void put(Octets octets) override { (void)reply_to(put_.before(octets.size()), octets); }
  Octets get(std::size_t size) override { return octets_in(reply_to(get_.with(static_cast<std::uint32_t>(size)), {})); }

 private:
  Octets reply_to(Octets request, Octets octets) {
    send_all(socket_.fd(), request, octets);
    return result_of(messages_.next());
  }

  Socket socket_;
  MessageStream messages_{socket_.fd()};
  Request ping_, push_, pushed_, echo_, put_, get_;
};

// A block comes back as it was sent.
class BlockCaller : public peers::Caller {
 public:
  explicit BlockCaller(const std::string& address) : socket_(connect_to(address)) {}

  std::int64_t ping(std::int64_t value) override {
    std::memcpy(block_.data(), &value, sizeof value);
    send_all(socket_.fd(), block_, {});
    receive_block(socket_.fd(), block_);
    return number_at<std::int64_t>(block_, 0) + 1;
  }

 private:
  Socket socket_;
  std::array<std::uint8_t, 64> block_{};
};

class BarePeer : public peers::Peer {
 public:
  explicit BarePeer(const peers::ClientOptions& options)
      : address_(options.address), key_(default_key()), sends_blocks_(options.kind == "block") {
    if (options.kind.starts_with("IOR:")) key_ = target_of(options.kind).key;
    if (!address_.starts_with("IOR:")) return;
    const Target target = target_of(address_);
    address_ = "tcp:" + std::to_string(target.port);
    key_ = target.key;
  }

  std::unique_ptr<peers::Caller> connect() override {
    if (sends_blocks_) return std::make_unique<BlockCaller>(address_);
    return std::make_unique<BareCaller>(address_, key_);
  }

 private:
  std::string address_, key_;
  bool sends_blocks_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::client_options(argc, argv);
  BarePeer peer(options);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
