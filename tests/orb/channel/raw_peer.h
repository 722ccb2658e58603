// Helpers for tests that set channels up: a peer that sends anything, and the texts of faults.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/channel/ends/hello.h"
#include "orb/channel/ends/setup.h"
#include "tests/support/channel_pair.h"
#include "tests/support/peers/fork_alone.h"

namespace corelane::testing {

inline std::string text_of_fault(const ChannelResult& result) { return result ? "no fault" : result.error().text; }

inline bool says(const ChannelResult& result, std::string_view words) {
  INFO(text_of_fault(result));
  return text_of_fault(result).find(words) != std::string::npos;
}

// A peer that sends anything to a correct acceptor.
class RawPeer {
 public:
  channel::Hello hello;
  channel::MadeMemory region, sleep;

  RawPeer() {
    const channel::Shape shape{.slots = 64, .chunks = 1, .chunk_size = 4096};
    hello.slots = shape.slots, hello.chunks = shape.chunks, hello.chunk_size = shape.chunk_size;
    hello.wake = static_cast<std::uint32_t>(channel::Wake::futex);
    hello.descriptors = 2;
    region = std::move(*channel::make_memory(channel::region_size(shape), channel::Writers::maker_alone));
    sleep = std::move(*channel::make_memory(sizeof(channel::SleepPage), channel::Writers::both_ends));
  }

  // Sends everything that a connector sends, without reading the answers.
  void say_all(const os::Fd& to) { say_all(to, &hello, sizeof hello, {region.fd.get(), sleep.fd.get()}); }
  static void say_all(const os::Fd& to, const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
    REQUIRE(channel::send_packet(to, bytes, size, descriptors));
    const channel::Ready ready;
    (void)channel::send_packet(to, &ready, sizeof ready, {});
  }
  // Returns the acceptor's result.
  ChannelResult present() { return present(&hello, sizeof hello, {region.fd.get(), sleep.fd.get()}); }
  ChannelResult present(const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
    SocketPair sockets;
    say_all(sockets.near, bytes, size, descriptors);
    auto result = channel::Channel::accept_over(std::move(sockets.far), {}, soon());
    answer = channel::receive_packet(sockets.near, soon());
    return result;
  }

  // Returns the refusal that the peer received.
  std::string refusal() const {
    if (!*answer) return answer->error().text;
    const auto heard = channel::as_hello(**answer);
    return heard ? "no refusal" : heard.error().text;
  }

  std::optional<Expected<channel::Packet, channel::SetupFault>> answer;
};

// Runs the body in a process of another user. The body may need nothing from the parent but the path. Returns -1 if
// this process does not run as root.
template <typename Body>
pid_t fork_stranger(uid_t user, Body&& body) {
  if (geteuid() != 0) {
    std::cout << "SKIPPED: another user's process needs root\n";
    return -1;
  }
  const pid_t child = corelane::testing::fork_alone();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(setgid(user) == 0 && setuid(user) == 0 ? body() : 1);
}

inline int exit_code(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace corelane::testing
