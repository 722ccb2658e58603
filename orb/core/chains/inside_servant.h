// These marks say whether the calling thread runs a request or is in a servant. What may wait for requests asks them.
//
// Threads: any; each thread has marks of its own.
#pragma once

namespace corelane::core {

// Returns whether the calling thread runs a request for a client.
bool inside_request() noexcept;
// Returns whether the calling thread is in a servant, for a client or for a caller of this process. Such a thread must
// not wait for requests to end.
bool inside_servant() noexcept;

// Marks the calling thread as inside a servant, until destruction.
class InsideServant {
 public:
  InsideServant() noexcept { ++nested_; }
  ~InsideServant() { --nested_; }
  InsideServant(const InsideServant&) = delete;
  InsideServant& operator=(const InsideServant&) = delete;

 private:
  friend bool inside_servant() noexcept;
  static constinit thread_local int nested_;
};

// Marks the calling thread as inside a client's request, and so in a servant, until destruction.
class InsideRequest {
 public:
  InsideRequest() noexcept { ++nested_; }
  ~InsideRequest() { --nested_; }
  InsideRequest(const InsideRequest&) = delete;
  InsideRequest& operator=(const InsideRequest&) = delete;

 private:
  friend bool inside_request() noexcept;
  static constinit thread_local int nested_;
  const InsideServant servant_;
};

}  // namespace corelane::core
