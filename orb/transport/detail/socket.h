// Stream sockets as this folder uses them: blocking descriptors, read and written with MSG_DONTWAIT where that is
// meant. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"
#include "orb/os/wait.h"
#include "orb/transport/connect_stop.h"
#include "orb/transport/connection.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/link.h"

namespace corelane::transport {

// What may come beside the bytes. Descriptors: over a Unix socket that takes them, or did; they are closed by another
// thread.
enum class Beside : std::uint8_t { nothing, descriptors };

// One recv; never waits.
IoResult receive_some(int fd, MutableBytes buffer, Beside beside) noexcept;
// The same, and when the last of the bytes came, where the kernel says so; otherwise now.
IoResult receive_stamped(int fd, MutableBytes buffer, Time& arrived, Beside beside) noexcept;
// When a stamp of the realtime clock was made, as the monotonic clock counts; both read `realtime` and `now` just now.
// Where the realtime clock was set back in between: `now`. Where it was set forward: too early, by the step.
Time moment_of(const timespec& stamp, const timespec& realtime, Time now) noexcept;
// From now on the kernel stamps what comes over TCP.
void stamp_arrivals(int fd) noexcept;
// Sends what the socket takes of the parts; never waits, raises no SIGPIPE. done: all of it; would_block: `count`
// bytes.
IoResult send_some(int fd, std::span<const Bytes> parts) noexcept;
// Waits for bytes (done), the deadline (would_block) or a failure, as the strategy says. `learnt`: of this connection.
// `peer`: of a Unix socket.
IoResult receive_until(int fd, MutableBytes buffer, Time deadline, os::WaitStrategy strategy, os::AdaptiveSpin& learnt,
                       std::optional<PeerCredentials> peer, Beside beside) noexcept;

// The receive time-out that receive_until() relies on; over TCP also no delay and keep-alive.
void configure_stream(int fd, int family) noexcept;

// Why a call that makes a descriptor failed, by errno: NO_RESOURCES no_descriptor, or `otherwise`.
Error no_descriptor_or(Error otherwise) noexcept;

// A connected stream, over TCP or to a Unix socket. TRANSIENT connect_failed, also when it was stopped, TIMEOUT
// deadline_passed or NO_RESOURCES no_descriptor.
Expected<os::Fd> connect_stream(const Address& address, Time deadline, ConnectStop* stop = nullptr) noexcept;
// A listening TCP socket that does not block. COMM_FAILURE address_in_use, NO_PERMISSION listen_denied, BAD_PARAM
// address_not_here or bad_address, NO_RESOURCES no_descriptor.
Expected<os::Fd> listen_stream(const Address& address) noexcept;

// Of the process at the other end of a Unix socket.
std::optional<PeerCredentials> peer_credentials(int fd) noexcept;

Endpoint local_endpoint(int fd);
Endpoint peer_endpoint(int fd);

}  // namespace corelane::transport
