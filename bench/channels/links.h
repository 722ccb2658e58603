// What carries messages between two processes: channels, and what stands beside them. A link is made before the fork,
// and each process then makes its end of it.
//
// Threads: each end is used by the only thread of its process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/channel/options.h"

namespace channels {

// The benchmark ends here: says why on standard error.
[[noreturn]] void give_up(std::string_view what);

// One end. Both calls wait as the link does, and give up when it breaks.
class End {
 public:
  virtual ~End() = default;
  virtual void send(corelane::Bytes message) = 0;
  virtual void receive(corelane::MutableBytes message) = 0;
};

using MakeEnd = std::function<std::unique_ptr<End>(int side)>;  // 0 in the parent, 1 in the child

struct Link {
  std::string name;
  std::function<MakeEnd(std::size_t size)> make;  // before the fork; for messages of that size
};

// Two rings of records in bare shared memory between two processes that spin: what the memory itself takes.
Link raw_ring();
Link unix_socket();
Link pipe_pair();
// `in_place`: large messages are written in a loan and read where they are, word by word.
Link channel_link(std::string name, corelane::channel::Wake wake, corelane::os::WaitMode mode, bool in_place = false);

// The signal of ends that wake each other by one; blocked in every thread.
inline constexpr int wake_signal = 40;

}  // namespace channels
