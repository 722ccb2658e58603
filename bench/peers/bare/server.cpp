// The bare socket server: a thread for each connection that reads a message, answers it and reads the next.
#include <system_error>
#include <thread>

#include "bench/peers/bare/frames.h"
#include "bench/peers/bare/sockets.h"
#include "bench/peers/driver/options.h"
#include "bench/peers/driver/process.h"

namespace {

using namespace peers::bare;

void serve(const Socket& connection) try {
  MessageStream messages(connection.fd());
  EchoService service;
  for (auto message = messages.next(); !message.empty(); message = messages.next())
    if (const auto answer = service.serve(received(message)))
      send_all(connection.fd(), {answer->head.bytes, answer->head.size}, answer->octets);
} catch (const std::system_error&) {
  // The client has closed the connection.
}

}  // namespace

int main(int argc, char** argv) try {
  peers::end_with_parent();
  const auto options = peers::server_options(argc, argv);
  const Listener listener = listen_at(options.address.empty() ? "tcp:0" : options.address);
  peers::announce(listener.address);
  for (;;) std::thread([connection = accept_from(listener.socket)] { serve(connection); }).detach();
} catch (const std::exception& fault) {
  return peers::fail(fault.what());
}
