// ZeroMQ's client: each caller has a REQ socket for calls and, once it pushes, a PUSH socket for oneways.
#include "bench/peers/driver/loads.h"
#include "bench/peers/driver/process.h"
#include "bench/peers/zeromq/messages.h"

namespace {

using namespace peers::zeromq;

class ZeromqCaller : public peers::Caller {
 public:
  // The address names both sockets of the server.
  ZeromqCaller(void* context, const std::string& address)
      : context_(context),
        push_address_(address.substr(address.find(',') + 1)),
        calls_(connected(ZMQ_REQ, address.substr(0, address.find(',')))) {}
  ~ZeromqCaller() override {
    close(calls_);
    close(pushes_);
  }

  std::int64_t ping(std::int64_t value) override {
    call(Operation::ping, bytes_of(value));
    return number_in<std::int64_t>(reply_.octets());
  }
  void push(peers::Octets octets) override {
    if (pushes_ == nullptr) pushes_ = connected(ZMQ_PUSH, push_address_);
    send(pushes_, Operation::push, octets);
  }
  std::int64_t pushed() override {
    call(Operation::pushed, {});
    return number_in<std::int64_t>(reply_.octets());
  }
  peers::Octets echo(peers::Octets octets) override { return call(Operation::echo, octets); }
  peers::Octets get(std::size_t size) override {
    const auto count = static_cast<std::uint32_t>(size);
    return call(Operation::get, bytes_of(count));
  }
  void put(peers::Octets octets) override { call(Operation::put, octets); }

 private:
  void* connected(int type, const std::string& address) const {
    void* socket = zmq_socket(context_, type);
    if (socket == nullptr) check(-1, "zmq_socket");
    check(zmq_connect(socket, address.c_str()), "zmq_connect");
    return socket;
  }

  static void close(void* socket) {
    if (socket == nullptr) return;
    const int no_linger = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &no_linger, sizeof no_linger);
    zmq_close(socket);
  }

  template <typename Number>
  static peers::Octets bytes_of(const Number& number) {
    return {reinterpret_cast<const std::uint8_t*>(&number), sizeof number};
  }

  static void send(void* socket, Operation operation, peers::Octets argument) {
    Message message(1 + argument.size());
    message.data()[0] = static_cast<std::uint8_t>(operation);
    if (!argument.empty()) std::memcpy(message.data() + 1, argument.data(), argument.size());
    message.send(socket);
  }

  peers::Octets call(Operation operation, peers::Octets argument) {
    send(calls_, operation, argument);
    reply_.receive(calls_);
    return reply_.octets();
  }

  void* context_;
  std::string push_address_;
  void* calls_;
  void* pushes_ = nullptr;  // connected by the first push
  Message reply_;
};

class ZeromqPeer : public peers::Peer {
 public:
  explicit ZeromqPeer(std::string address) : context_(zmq_ctx_new()), address_(std::move(address)) {
    check(zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, zmq_ctx_get(context_, ZMQ_SOCKET_LIMIT)), "ZMQ_MAX_SOCKETS");
  }
  std::unique_ptr<peers::Caller> connect() override { return std::make_unique<ZeromqCaller>(context_, address_); }

 private:
  void* context_;
  std::string address_;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::client_options(argc, argv);
  ZeromqPeer peer(options.address);
  return peers::run_client(options, peer);
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
