// The command line of a peer's client and server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace peers {

using Nanoseconds = std::chrono::nanoseconds;

struct ClientOptions {
  std::string address{};           // what the server announced
  std::string load = "calls";      // calls, throughput, oneways, first or hold; see loads.h
  std::string operation = "ping";  // ping, echo, put or get
  std::size_t calls = 1000;
  std::size_t warm_up = 100;
  std::size_t threads = 1;
  std::size_t size = 64;              // octets of an argument or result
  std::size_t extra_connections = 0;  // opened and called once; idle afterwards
  std::uint64_t rate = 0;             // calls per second; 0: each call follows the previous one
  std::string pace = "sleep";         // how to wait for the next call of a rate: sleep, due or spin
  Nanoseconds duration = std::chrono::seconds{1};
  Nanoseconds idle{};         // how long to watch both processes after the calls
  std::int64_t started = 0;   // CLOCK_MONOTONIC when the process was started, in ns
  std::int64_t server_pid{};  // whose CPU time to read; 0: none
  bool gate = false;          // say READY and wait for a line before measuring
  std::string kind{};         // of the peer, such as `task`
};

struct ServerOptions {
  std::string address{};  // empty: one that the server chooses
  std::size_t threads = 1;
  std::string kind{};  // of the peer
};

// Read the arguments that the peer's own library has left. They raise std::invalid_argument for an unknown option, a
// missing value or an invalid number.
ClientOptions client_options(int argc, char** argv);
ServerOptions server_options(int argc, char** argv);

}  // namespace peers
