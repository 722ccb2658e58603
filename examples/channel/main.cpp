// Two processes and a channel. One process sends readings; the other answers each reading with the sum so far.
//
//   corelane-channel-example serve /tmp/sum.channel &
//   corelane-channel-example add /tmp/sum.channel 1 2 3.5
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "orb/channel/channel.h"
#include "orb/channel/listener.h"
#include "orb/os/clock.h"

using namespace corelane;

namespace {

Bytes bytes_of(const double& number) { return std::as_bytes(std::span{&number, 1}); }
MutableBytes room_for(double& number) { return std::as_writable_bytes(std::span{&number, 1}); }

int complain(std::string_view what) {
  std::fprintf(stderr, "corelane-channel-example: %.*s\n", static_cast<int>(what.size()), what.data());
  return 1;
}

// Answers until the client closes or dies. Returns the fault that ended it.
channel::Fault sum_up(channel::Channel& client) {
  double reading = 0, sum = 0;
  while (true) {  // bound: the client's life
    const auto size = client.read(room_for(reading), never);
    if (!size) return size.error();
    if (*size != sizeof reading) return channel::Fault::spoiled;
    sum += reading;
    if (const auto sent = client.write(bytes_of(sum), never); !sent) return sent.error();
  }
}

int serve(const std::string& path) {
  auto listener = channel::Listener::listen(path, {});
  if (!listener) return complain(listener.error().text);
  auto client = listener->accept(never);
  if (!client) return complain(client.error().text);
  const std::string_view end = text_of(sum_up(*client));
  std::printf("process %d: %.*s\n", client->peer().process, static_cast<int>(end.size()), end.data());
  return 0;
}

int add(const std::string& path, int count, char** readings) {
  const Time deadline = os::now() + std::chrono::seconds{5};
  auto server = channel::Channel::connect(path, {}, deadline);
  if (!server) return complain(server.error().text);
  for (int i = 0; i < count; ++i) {
    double sum = std::atof(readings[i]);
    if (const auto sent = server->write(bytes_of(sum), deadline); !sent) return complain(text_of(sent.error()));
    if (const auto answer = server->read(room_for(sum), deadline); !answer) return complain(text_of(answer.error()));
    std::printf("%g\n", sum);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* usage = "usage: corelane-channel-example serve PATH | add PATH NUMBER...";
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "--help") return std::puts(usage) < 0 ? 1 : 0;
  if (role == "serve" && argc > 2) return serve(argv[2]);
  if (role == "add" && argc > 2) return add(argv[2], argc - 3, argv + 3);
  return std::fprintf(stderr, "%s\n", usage), 2;
}
