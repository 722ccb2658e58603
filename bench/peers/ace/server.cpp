// An echo server on ACE_TP_Reactor. --threads threads take turns: the thread that gets an event reads a message,
// answers it and waits again (leader/followers). The client is the bare one; the bytes are those of frames.h.
#include <ace/ACE.h>
#include <ace/Event_Handler.h>
#include <ace/Init_ACE.h>
#include <ace/Reactor.h>
#include <ace/TP_Reactor.h>

#include <system_error>
#include <thread>
#include <vector>

#include "bench/peers/bare/frames.h"
#include "bench/peers/bare/sockets.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"

namespace {

using namespace peers::bare;

// Reads and answers the messages of one connection. The reactor calls it from one thread at a time, and deletes it when
// the connection ends.
class Connection : public ACE_Event_Handler {
 public:
  Connection(ACE_Reactor* reactor, Socket socket) : ACE_Event_Handler(reactor), socket_(std::move(socket)) {
    reference_counting_policy().value(ACE_Event_Handler::Reference_Counting_Policy::ENABLED);
  }

  ACE_HANDLE get_handle() const override { return socket_.fd(); }

  // -1 makes the reactor drop the connection.
  int handle_input(ACE_HANDLE) override try {
    do {
      const auto message = messages_.next();
      if (message.empty()) return -1;
      if (const auto answer = service_.serve(received(message)))
        send_all(socket_.fd(), {answer->head.bytes, answer->head.size}, answer->octets);
    } while (messages_.holds_message());
    return 0;
  } catch (const std::system_error&) {
    return -1;
  }

 private:
  Socket socket_;
  MessageStream messages_{socket_.fd()};
  EchoService service_;
};

class Acceptor : public ACE_Event_Handler {
 public:
  Acceptor(ACE_Reactor* reactor, const Socket& listener) : ACE_Event_Handler(reactor), listener_(listener) {}

  ACE_HANDLE get_handle() const override { return listener_.fd(); }

  int handle_input(ACE_HANDLE) override {
    const ACE_Event_Handler_var connection(new Connection(reactor(), accept_from(listener_)));
    return reactor()->register_handler(connection.handler(), ACE_Event_Handler::READ_MASK);
  }

 private:
  const Socket& listener_;
};

int serve(const peers::ServerOptions& options) {
  ACE_TP_Reactor implementation;
  ACE_Reactor reactor(&implementation);
  const Listener listener = listen_at(options.address.empty() ? "tcp:0" : options.address);
  Acceptor acceptor(&reactor, listener.socket);
  if (reactor.register_handler(&acceptor, ACE_Event_Handler::ACCEPT_MASK) != 0)
    return peers::fail("the reactor does not take the listening socket");
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([&reactor] {
      while (reactor.handle_events() >= 0) {
      }
    });
  }
  peers::announce(listener.address);
  peers::serve_until_killed();
}

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  ACE::init();
  return serve(peers::server_options(argc, argv));
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
