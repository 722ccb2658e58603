#include "orb/channel/ends/hello.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "orb/base/text/one_line.h"
#include "orb/channel/bell.h"
#include "orb/os/clock.h"

namespace corelane::channel {
namespace {

SetupFault bad_peer(std::string_view what) {
  return {SetupFault::Kind::bad_peer, "the other end " + std::string(what)};
}

struct ControlBuffer {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * most_descriptors)];
};

void take_descriptors(msghdr& message, Passed& found) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      found.add(os::Fd(fd));
    }
  }
}

// Reads a packet without taking it. Descriptors for which this process has no room stay in the socket.
ssize_t look_at(const os::Fd& socket, Packet& packet, int& flags) noexcept {
  iovec part{packet.bytes.data(), packet.bytes.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t got = recvmsg(socket.get(), &message, MSG_PEEK | MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got >= 0) take_descriptors(message, packet.descriptors);  // an empty packet may bring descriptors, too
  flags = message.msg_flags;
  return got;
}

template <typename T>
T read_as(const Packet& packet) noexcept {
  T value;
  std::memcpy(&value, packet.bytes.data(), std::min(sizeof value, packet.bytes.size()));
  return value;
}

SetupFault refusal_of(const Packet& packet) {
  const auto refusal = read_as<Refusal>(packet);
  std::string text(refusal.text, std::min<std::size_t>(refusal.length, sizeof refusal.text));
  return {SetupFault::Kind::refused, "the other end refused: " + as_one_line(std::move(text))};
}

// Checks that this is a packet of the protocol, of that kind and size.
Expected<void, SetupFault> expect(const Packet& packet, PacketKind kind, std::size_t size) {
  struct Start {
    std::uint64_t magic;
    std::uint32_t kind;
  };
  const auto start = read_as<Start>(packet);
  if (packet.size < sizeof(Ready) || start.magic != hello_magic)
    return bad_peer("does not speak this protocol; another program listens at this path");
  if (start.kind == static_cast<std::uint32_t>(PacketKind::refusal) && packet.size == sizeof(Refusal))
    return refusal_of(packet);
  if (start.kind != static_cast<std::uint32_t>(kind) || packet.size != size)
    return bad_peer("sent a packet out of turn; its program is at fault");
  return {};
}

SetupFault incompatible(const std::string& text) { return {SetupFault::Kind::incompatible, text}; }

std::string hex(std::uint64_t bits) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), digits[bits & 15]);
  while ((bits >>= 4) != 0);
  return "0x" + text;
}

SetupFault why_hung_up(const os::Fd& socket) {
  const auto last = receive_packet(socket, Time{});
  if (!last) return last.error();
  const auto refusal = expect(*last, PacketKind::refusal, sizeof(Refusal));
  return refusal ? refusal_of(*last) : refusal.error();
}

}  // namespace

bool wait_readable(int socket, Time deadline) noexcept {
  pollfd watched{socket, POLLIN, 0};
  // Bound: the deadline.
  while (true) {
    const timespec left = os::to_timespec(os::left_until(deadline));
    const int ready = ppoll(&watched, 1, &left, nullptr);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

Expected<void, SetupFault> send_packet(const os::Fd& socket, const void* bytes, std::size_t size,
                                       const std::vector<int>& descriptors) {
  iovec part{const_cast<void*>(bytes), size};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t length = sizeof(int) * descriptors.size();
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(length);
    *CMSG_FIRSTHDR(&message) = {CMSG_LEN(length), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), descriptors.data(), length);
  }
  // A new socket takes three small packets without blocking.
  if (sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size)) return {};
  if (errno == EPIPE || errno == ECONNRESET) return why_hung_up(socket);
  return system_fault("sending over the Unix socket", errno, "see ulimit -n and the limits of this process");
}

Expected<Packet, SetupFault> receive_packet(const os::Fd& socket, Time deadline) {
  if (!wait_readable(socket.get(), deadline))
    return SetupFault{SetupFault::Kind::timed_out, "the other end did not answer in time; is it stopped?"};
  Packet packet;
  int flags = 0;
  ssize_t got = look_at(socket, packet, flags);
  // The other end closed while a packet of this end was unread. What it sent before can be read after that error.
  if (got < 0 && errno == ECONNRESET) got = look_at(socket, packet, flags);
  if (got <= 0) return bad_peer("hung up while the channel was being set up");
  if ((flags & MSG_CTRUNC) != 0)
    return bad_peer("sent more descriptors than process " + std::to_string(getpid()) +
                    " could take; raise ulimit -n of that, or the sender's program is at fault");
  // The descriptors of the packet are open here now. So taking the packet makes the kernel close none of them for good.
  recv(socket.get(), packet.bytes.data(), packet.bytes.size(), MSG_DONTWAIT);
  if ((flags & MSG_TRUNC) != 0) return bad_peer("sent a packet that is too long; its program is at fault");
  packet.size = static_cast<std::size_t>(got);
  return packet;
}

void send_refusal(const os::Fd& socket, const std::string& text) noexcept {
  Refusal refusal;
  refusal.length = static_cast<std::uint32_t>(std::min(text.size(), sizeof refusal.text));
  std::memcpy(refusal.text, text.data(), refusal.length);
  send(socket.get(), &refusal, sizeof refusal, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Expected<Hello, SetupFault> as_hello(const Packet& packet) {
  if (const auto right = expect(packet, PacketKind::hello, sizeof(Hello)); !right) return right.error();
  const auto hello = read_as<Hello>(packet);
  if (hello.descriptors != packet.descriptors.size()) return bad_peer("sent other descriptors than it said");
  return hello;
}

Expected<void, SetupFault> as_ready(const Packet& packet) { return expect(packet, PacketKind::ready, sizeof(Ready)); }

Expected<void, SetupFault> check(const Hello& mine, const Hello& theirs) {
  if (theirs.lowest_version > mine.highest_version || theirs.highest_version < mine.lowest_version)
    return incompatible("no common version: this end speaks " + std::to_string(mine.lowest_version) + " to " +
                        std::to_string(mine.highest_version) + ", the other " + std::to_string(theirs.lowest_version) +
                        " to " + std::to_string(theirs.highest_version) + "; update the older one");
  if (const auto lacking = (theirs.required & ~mine.offered) | (mine.required & ~theirs.offered); lacking != 0)
    return incompatible("one end requires features that the other lacks: " + hex(lacking) + "; update the older one");
  if (!is_valid({theirs.slots, theirs.chunks, theirs.chunk_size}))
    return bad_peer("asked for a ring or chunks of impossible size; its program is at fault");
  if (theirs.wake > static_cast<std::uint32_t>(Wake::signal))
    return incompatible("the other end wants to be woken in a way unknown here; update this one");
  return {};
}

}  // namespace corelane::channel
