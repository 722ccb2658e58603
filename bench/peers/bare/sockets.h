// Blocking TCP and Unix sockets, and whole GIOP messages over them.
//
// Addresses: "tcp:PORT" on the loopback, "unix:PATH".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "bench/peers/driver/caller.h"

namespace peers::bare {

// Owns a file descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// These throw std::system_error.
Socket connect_to(const std::string& address);
struct Listener {
  Socket socket;
  std::string address;  // with the port that the kernel chose
};
Listener listen_at(const std::string& address);  // "tcp:0": any free port
Socket accept_from(const Socket& listener);

// Sends both parts, with one system call if the kernel takes them at once. Throws std::system_error.
void send_all(int fd, Octets head, Octets rest);

// Reads until the block is full. Throws std::system_error, also at the end of the stream.
void receive_block(int fd, std::span<std::uint8_t> block);

// A stream of GIOP messages. Thread: one.
class MessageStream {
 public:
  explicit MessageStream(int fd) : fd_(fd), bytes_(std::make_unique_for_overwrite<std::uint8_t[]>(capacity_)) {}

  // Returns the next whole message, which is valid until the next call. Reads only if the message is not complete yet.
  // Returns an empty span at the end of the stream. Throws std::system_error.
  std::span<const std::uint8_t> next();

  // Returns whether next() would return without reading.
  bool holds_message() const;

 private:
  std::span<const std::uint8_t> unread() const { return {bytes_.get() + begin_, end_ - begin_}; }
  void make_room(std::size_t message);

  int fd_;
  std::size_t capacity_ = 65536;  // grows to the longest message
  std::size_t begin_ = 0, end_ = 0;
  std::unique_ptr<std::uint8_t[]> bytes_;
};

}  // namespace peers::bare
