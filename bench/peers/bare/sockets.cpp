#include "bench/peers/bare/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "bench/peers/bare/frames.h"

namespace peers::bare {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A socket address of either family.
struct Address {
  union {
    sockaddr generic;
    sockaddr_in tcp;
    sockaddr_un local;
  };
  socklen_t size = 0;

  explicit Address(const std::string& text) : local{} {
    if (text.starts_with("tcp:")) {
      tcp = {};
      tcp.sin_family = AF_INET;
      tcp.sin_port = htons(static_cast<std::uint16_t>(std::stoul(text.substr(4))));
      tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      size = sizeof tcp;
    } else if (text.starts_with("unix:") && text.size() - 5 < sizeof local.sun_path) {
      local.sun_family = AF_UNIX;
      std::memcpy(local.sun_path, text.c_str() + 5, text.size() - 4);
      size = sizeof local;
    } else {
      throw std::invalid_argument("an address is tcp:PORT or unix:PATH, not '" + text + "'");
    }
  }
  bool is_tcp() const { return generic.sa_family == AF_INET; }
};

Socket new_socket(const Address& address) {
  Socket socket(::socket(address.generic.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) throw_errno("socket");
  return socket;
}

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a Unix socket refuses it and does not need it
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket connect_to(const std::string& text) {
  const Address address(text);
  Socket socket = new_socket(address);
  if (::connect(socket.fd(), &address.generic, address.size) != 0) throw_errno("connect to " + text);
  set_no_delay(socket.fd());
  return socket;
}

Listener listen_at(const std::string& text) {
  Address address(text);
  Socket socket = new_socket(address);
  if (!address.is_tcp()) ::unlink(address.local.sun_path);
  if (::bind(socket.fd(), &address.generic, address.size) != 0 || ::listen(socket.fd(), SOMAXCONN) != 0 ||
      ::getsockname(socket.fd(), &address.generic, &address.size) != 0)
    throw_errno("listen at " + text);
  return {std::move(socket), address.is_tcp() ? "tcp:" + std::to_string(ntohs(address.tcp.sin_port)) : text};
}

Socket accept_from(const Socket& listener) {
  Socket socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.fd() < 0) throw_errno("accept");
  set_no_delay(socket.fd());
  return socket;
}

void send_all(int fd, Octets head, Octets rest) {
  iovec parts[] = {{const_cast<std::uint8_t*>(head.data()), head.size()},
                   {const_cast<std::uint8_t*>(rest.data()), rest.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = rest.empty() ? 1 : 2;
  for (std::size_t left = head.size() + rest.size(); left > 0;) {
    // For one part, send() costs less than sendmsg().
    const ssize_t sent = message.msg_iovlen == 1
                             ? ::send(fd, message.msg_iov->iov_base, message.msg_iov->iov_len, MSG_NOSIGNAL)
                             : ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0) throw_errno("send");
    left -= static_cast<std::size_t>(sent);
    for (auto skip = static_cast<std::size_t>(sent); left > 0 && skip > 0;) {
      iovec& part = *message.msg_iov;
      const std::size_t of_part = skip < part.iov_len ? skip : part.iov_len;
      part.iov_base = static_cast<std::uint8_t*>(part.iov_base) + of_part;
      part.iov_len -= of_part;
      skip -= of_part;
      if (part.iov_len == 0) ++message.msg_iov, --message.msg_iovlen;
    }
  }
}

void receive_block(int fd, std::span<std::uint8_t> block) {
  errno = ECONNRESET;
  if (::recv(fd, block.data(), block.size(), MSG_WAITALL) != static_cast<ssize_t>(block.size())) throw_errno("recv");
}

std::span<const std::uint8_t> MessageStream::next() {
  for (;;) {
    const auto size = size_of(unread());
    if (size && *size <= end_ - begin_) {
      const auto message = unread().first(*size);
      begin_ += *size;
      return message;
    }
    make_room(size.value_or(header_size));
    const ssize_t got = ::recv(fd_, bytes_.get() + end_, capacity_ - end_, 0);
    if (got < 0) throw_errno("recv");
    if (got == 0) return {};
    end_ += static_cast<std::size_t>(got);
  }
}

bool MessageStream::holds_message() const {
  const auto size = size_of(unread());
  return size && *size <= end_ - begin_;
}

// Moves the beginning of a message to the front, and makes the memory as long as the message.
void MessageStream::make_room(std::size_t message) {
  const std::size_t count = end_ - begin_;
  if (message > capacity_) {
    auto longer = std::make_unique_for_overwrite<std::uint8_t[]>(message);
    std::memcpy(longer.get(), bytes_.get() + begin_, count);
    bytes_ = std::move(longer);
    capacity_ = message;
  } else if (begin_ > 0 && count > 0) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, count);
  }
  begin_ = 0;
  end_ = count;
}

}  // namespace peers::bare
