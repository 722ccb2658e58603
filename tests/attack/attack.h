// Attack opens bare connections and sends a plan's bytes to a server over them, until destruction. One thread drives
// all of them. It opens a connection again if the server closes it.
//
// Threads: one creates and destroys it. sent(): any.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/transport/endpoint.h"

namespace corelane::attack {

// Opens one connection; a TCP connection comes from 127.0.0.N. Returns no descriptor if the server or the system
// refuses it.
inline os::Fd connect_to(const transport::Endpoint& to, std::size_t from) {
  const bool tcp = to.kind == &transport::kinds::tcp;
  const int type = to.kind == &transport::kinds::channel ? SOCK_SEQPACKET : SOCK_STREAM;
  os::Fd fd(::socket(tcp ? AF_INET : AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (!fd) return {};
  if (tcp) {
    sockaddr_in here{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}}, there = here;
    here.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(0x7F000000 + from));
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there.sin_port = htons(to.port);
    const int one = 1;
    (void)setsockopt(fd.get(), SOL_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
      return {};
  } else {
    sockaddr_un there{.sun_family = AF_UNIX, .sun_path = {}};
    to.path.copy(there.sun_path, sizeof there.sun_path - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) return {};
  }
  return fd;
}

class Attack {
 public:
  struct Plan {
    std::vector<std::byte> bytes;  // what each connection sends
    bool repeats = true;           // sends them repeatedly; otherwise once, and then keeps the connection open
    bool reads = true;             // reads what the server sends
    std::size_t fast = SIZE_MAX;   // bytes that come as fast as they can; beyond them, a piece every two seconds
    std::size_t connections = 3;
    std::size_t addresses = 3;    // over TCP, how many addresses they come from
    std::optional<uid_t> user{};  // the user they belong to; only for root
  };

  // Returns when each connection was opened once and has sent something.
  Attack(transport::Endpoint to, Plan plan)
      : to_(std::move(to)), plan_(std::move(plan)), thread_([this](const std::stop_token& stop) { run(stop); }) {
    begun_.get_future().wait();
  }

  std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_relaxed); }  // relaxed: a count

 private:
  static constexpr std::size_t piece = 64 * 1024;
  struct Line {
    os::Fd fd;
    std::size_t done = 0;  // how many of the bytes were sent
    Time next{};           // before that, it sends nothing
  };

  void run(const std::stop_token& stop) {
    if (plan_.user) become(*plan_.user);
    std::vector<Line> lines(plan_.connections);
    for (std::size_t i = 0; i < lines.size(); ++i) open(lines[i], i);
    begun_.set_value();
    std::vector<pollfd> polls(lines.size());
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool writes = lines[i].done < plan_.bytes.size() && os::now() >= lines[i].next;
        polls[i] = {.fd = lines[i].fd.get(),
                    .events = static_cast<short>((writes ? POLLOUT : 0) | (plan_.reads ? POLLIN : 0)),
                    .revents = 0};
      }
      (void)::poll(polls.data(), polls.size(), 10);
      for (std::size_t i = 0; i < lines.size() && !stop.stop_requested(); ++i) {
        const bool over = (polls[i].revents & (POLLHUP | POLLERR)) != 0;
        const bool fed = (polls[i].revents & POLLIN) == 0 || drain(lines[i]);
        const bool went = (polls[i].revents & POLLOUT) == 0 || push(lines[i]);
        if (over || !fed || !went || !lines[i].fd) open(lines[i], i);
      }
    }
  }
  // Changes this thread only. It makes the system call directly, because the library's function changes all threads.
  static void become(uid_t user) {
    (void)::syscall(SYS_setgroups, 0, nullptr);
    (void)::syscall(SYS_setresgid, -1, user, -1);
    (void)::syscall(SYS_setresuid, -1, user, -1);
  }
  void open(Line& line, std::size_t number) {
    line = {.fd = connect_to(to_, 2 + number % plan_.addresses)};
    if (line.fd && !push(line)) line = {};
  }
  // Returns false if the server has ended the connection.
  bool push(Line& line) {
    const bool is_fast = line.done < plan_.fast;
    const Bytes left = Bytes(plan_.bytes).subspan(line.done);
    const std::size_t most = is_fast ? std::min(std::size_t{1} << 20, plan_.fast - line.done) : piece;
    const ssize_t count = ::send(line.fd.get(), left.data(), std::min(left.size(), most), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (!is_fast) line.next = os::now() + std::chrono::seconds{2};
    sent_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);  // relaxed: a count
    line.done += static_cast<std::size_t>(count);
    if (line.done == plan_.bytes.size() && plan_.repeats) line.done = 0;
    return true;
  }
  bool drain(Line& line) {
    std::array<std::byte, 65536> ignored;
    const ssize_t count = ::recv(line.fd.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }

  const transport::Endpoint to_;
  const Plan plan_;
  std::atomic<std::uint64_t> sent_{0};
  std::promise<void> begun_;
  std::jthread thread_;  // last, because it uses the other members
};

}  // namespace corelane::attack
