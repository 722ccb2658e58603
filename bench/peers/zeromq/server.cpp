// ZeroMQ's echo server: one thread with a REP socket for calls and a PULL socket for oneways. --address is
// tcp://127.0.0.1:* or ipc://PATH.
#include <array>

#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"
#include "bench/peers/zeromq/messages.h"

namespace {

using namespace peers::zeromq;

class Server {
 public:
  Server(void* context, const std::string& address)
      : calls_(zmq_socket(context, ZMQ_REP)), pushes_(zmq_socket(context, ZMQ_PULL)) {
    check(zmq_bind(calls_, address.c_str()), "zmq_bind");
    check(zmq_bind(pushes_, (address.starts_with("ipc:") ? address + ".pushes" : address).c_str()), "zmq_bind");
  }

  std::string address() const { return endpoint_of(calls_) + "," + endpoint_of(pushes_); }

  [[noreturn]] void serve() {
    std::array<zmq_pollitem_t, 2> items{{{calls_, 0, ZMQ_POLLIN, 0}, {pushes_, 0, ZMQ_POLLIN, 0}}};
    for (;;) {
      check(zmq_poll(items.data(), static_cast<int>(items.size()), -1), "zmq_poll");
      if ((items[0].revents & ZMQ_POLLIN) != 0) answer();
      if ((items[1].revents & ZMQ_POLLIN) != 0) take_pushes();
    }
  }

 private:
  static std::string endpoint_of(void* socket) {
    std::array<char, 256> text{};
    std::size_t size = text.size();
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, text.data(), &size), "ZMQ_LAST_ENDPOINT");
    return text.data();
  }

  void take_pushes() {
    // A call waits behind a bounded number of oneways.
    for (int i = 0; i < 100; ++i) {
      Message message;
      if (!message.try_receive(pushes_)) return;
      ++pushed_;
    }
  }

  void answer() {
    Message request;
    request.receive(calls_);
    if (request.size() == 0) throw std::runtime_error("an empty request");
    const peers::Octets argument = request.octets().subspan(1);
    switch (static_cast<Operation>(request.octets()[0])) {
      case Operation::ping:
        return reply(number_in<std::int64_t>(argument) + 1);
      case Operation::pushed:
        return reply(pushed_);
      case Operation::echo:
        return reply(argument);
      case Operation::put:
        peers::check_octets(argument, argument.size());
        return reply(peers::Octets{});
      case Operation::get:
        return reply_octets(number_in<std::uint32_t>(argument));
      case Operation::push:
        break;
    }
    throw std::runtime_error("a request for an operation that is not known");
  }

  void reply(std::int64_t number) {
    Message message(sizeof number);
    std::memcpy(message.data(), &number, sizeof number);
    message.send(calls_);
  }
  void reply(peers::Octets octets) {
    Message message(octets.size());
    if (!octets.empty()) std::memcpy(message.data(), octets.data(), octets.size());
    message.send(calls_);
  }
  void reply_octets(std::size_t size) {
    Message message(size);
    if (size > 0) {
      std::memset(message.data(), 0, size);
      message.data()[size - 1] = peers::last_octet(size);
    }
    message.send(calls_);
  }

  void* calls_;
  void* pushes_;
  std::int64_t pushed_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::server_options(argc, argv);
  Server server(zmq_ctx_new(), options.address);
  peers::announce(server.address());
  server.serve();
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
