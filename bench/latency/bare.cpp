// The reference row: 64 bytes over a blocking TCP connection and back, without a delay and without a protocol.
//   corelane-bench-bare server
//   corelane-bench-bare PORT WARM-UP CALLS INTERVAL
#include <string>
#include <string_view>

#include "bench/latency/load.h"
#include "bench/latency/loopback.h"

namespace {

using latency::Message;

// Serves one client at a time, until the driver kills the process.
[[noreturn]] void serve() {
  const int listener = latency::new_socket();
  latency::announce(std::to_string(latency::listen_on(listener)));
  for (;;) {
    const int fd = latency::accept_one(listener);
    for (Message message; latency::receive_all(fd, message) && latency::send_all(fd, message);) {
    }
    ::close(fd);
  }
}

int call(char** argv) {
  const int fd = latency::new_socket();
  sockaddr_in address = latency::loopback(static_cast<std::uint16_t>(latency::number_of("PORT", argv[1], 65'535)));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) latency::die("connect");
  latency::set_no_delay(fd);
  Message message{};
  const auto samples = latency::measure(latency::load_of(argv), [&](std::int64_t value) {
    std::memcpy(message.data(), &value, sizeof value);
    if (!latency::send_all(fd, message) || !latency::receive_all(fd, message)) latency::die("echo");
    std::int64_t answer = 0;
    std::memcpy(&answer, message.data(), sizeof answer);
    latency::check(value, answer);
  });
  return latency::report(samples) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "server") serve();
  if (argc == 5) return call(argv);
  return latency::usage(argv[0], "server | PORT WARM-UP CALLS INTERVAL");
}
