// ZeroMQ moves messages and has no calls, so these peers define a format. The first octet identifies the operation; the
// argument follows. A reply is the result alone. Numbers have their format in memory.
#pragma once

#include <zmq.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/peers/driver/caller.h"

namespace peers::zeromq {

enum class Operation : std::uint8_t { ping, push, pushed, echo, put, get };

inline void check(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}

// Owns a message, and so the memory of its octets.
class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  explicit Message(std::size_t size) { check(zmq_msg_init_size(&message_, size), "zmq_msg_init_size"); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { zmq_msg_close(&message_); }

  std::uint8_t* data() { return static_cast<std::uint8_t*>(zmq_msg_data(&message_)); }
  std::size_t size() const { return zmq_msg_size(&message_); }
  Octets octets() { return {data(), size()}; }

  void send(void* socket) { check(zmq_msg_send(&message_, socket, 0), "zmq_msg_send"); }
  // Returns false if there is no message.
  bool try_receive(void* socket) {
    const int result = zmq_msg_recv(&message_, socket, ZMQ_DONTWAIT);
    if (result < 0 && zmq_errno() == EAGAIN) return false;
    check(result, "zmq_msg_recv");
    return true;
  }
  void receive(void* socket) { check(zmq_msg_recv(&message_, socket, 0), "zmq_msg_recv"); }

 private:
  zmq_msg_t message_{};
};

template <typename Number>
Number number_in(Octets octets) {
  Number number{};
  if (octets.size() != sizeof number) throw std::runtime_error("a message of the wrong length");
  std::memcpy(&number, octets.data(), sizeof number);
  return number;
}

}  // namespace peers::zeromq
