// These marks say whether the calling thread runs a request or is in a servant. What may wait for requests asks them.
//
// Threads: any; each thread has marks of its own.
#pragma once

#include <cstdint>

namespace corelane::core {

enum class Inside : std::uint8_t { servant, request };

// Marks the calling thread as inside `where`, until destruction. Marks nest.
template <Inside where>
class ThreadMark {
 public:
  ThreadMark() noexcept { ++nested_; }
  ~ThreadMark() { --nested_; }
  ThreadMark(const ThreadMark&) = delete;
  ThreadMark& operator=(const ThreadMark&) = delete;

  static bool is_set() noexcept { return nested_ > 0; }

 private:
  static inline constinit thread_local int nested_ = 0;
};

// Marks the calling thread as inside a servant.
using InsideServant = ThreadMark<Inside::servant>;
// Marks the calling thread as inside a client's request, and so in a servant.
struct InsideRequest {
  InsideServant servant;
  ThreadMark<Inside::request> request;
};

// Returns whether the calling thread runs a request for a client.
inline bool inside_request() noexcept { return ThreadMark<Inside::request>::is_set(); }
// Returns whether the calling thread is in a servant, for a client or for a caller of this process. Such a thread must
// not wait for requests to end.
inline bool inside_servant() noexcept { return InsideServant::is_set(); }

}  // namespace corelane::core
