// These functions connect, listen, send and receive on stream sockets. The descriptors block; calls that must not block
// use MSG_DONTWAIT.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connect_stop.h"
#include "orb/transport/connection.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/link.h"

namespace corelane::transport {

// What may come with the bytes. `descriptors`: over a Unix socket that takes them, or did. Another thread closes them.
enum class Beside : std::uint8_t { nothing, descriptors };

// Makes one recv call. Never waits.
IoResult receive_some(int fd, MutableBytes buffer, Beside beside) noexcept;
// Does the same, and tells when the last of the bytes came, if the kernel says so; otherwise now.
IoResult receive_stamped(int fd, MutableBytes buffer, Time& arrived, Beside beside) noexcept;
// Converts a stamp of the realtime clock to the monotonic clock. `realtime` and `now` are readings of both clocks just
// now. If the realtime clock was set back in between, returns `now`. If it was set forward, the result is too early by
// the step.
Time moment_of(const timespec& stamp, const timespec& realtime, Time now) noexcept;
// Makes the kernel stamp what comes over TCP from now on.
void stamp_arrivals(int fd) noexcept;
// Sends what the socket takes of the parts. Never waits, and raises no SIGPIPE. done: all of it was sent; would_block:
// `count` bytes were.
IoResult send_some(int fd, std::span<const Bytes> parts) noexcept;
// Waits until the descriptor is ready for one of the events of poll(), or has failed. Returns false if the deadline has
// come.
bool poll_until(int fd, short events, Time deadline) noexcept;
// Waits for bytes (done), the deadline (would_block) or a failure, according to the strategy. `learnt` belongs to this
// connection. `peer` is that of a Unix socket.
IoResult receive_until(int fd, MutableBytes buffer, Time deadline, os::WaitStrategy strategy, os::AdaptiveSpin& learnt,
                       std::optional<PeerCredentials> peer, Beside beside) noexcept;

// Sets the receive timeout that receive_until() relies on; over TCP also no delay and keep-alive.
void configure_stream(int fd, int family) noexcept;

// Returns why a call that makes a descriptor failed, by errno: NO_RESOURCES no_descriptor, or `otherwise`.
Error no_descriptor_or(Error otherwise) noexcept;

// Connects a stream socket of the address's family. TRANSIENT connect_failed, also if it was stopped; TIMEOUT
// deadline_passed; NO_RESOURCES no_descriptor.
Expected<os::Fd> connect_stream(const Address& address, Time deadline, ConnectStop* stop = nullptr) noexcept;
// Makes a listening, non-blocking stream socket of the address's family. A socket with a file needs os::SocketPath
// instead. COMM_FAILURE address_in_use, NO_PERMISSION listen_denied, BAD_PARAM address_not_here or bad_address,
// NO_RESOURCES no_descriptor.
Expected<os::Fd> listen_stream(const Address& address) noexcept;

// Returns the credentials of the process at the other end of a Unix socket.
std::optional<PeerCredentials> peer_credentials(int fd) noexcept;

Endpoint local_endpoint(int fd);
Endpoint peer_endpoint(int fd);

}  // namespace corelane::transport
