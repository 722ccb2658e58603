// Links carry messages between two processes: channels, and other ways for comparison. A link is made before the fork.
// Then each process makes its end of it.
//
// Threads: each process has one thread, which uses its end.
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

// Prints the reason to standard error, and ends the benchmark.
[[noreturn]] void give_up(std::string_view what);

// One end of a link. Both calls wait in the way of the link, and end the benchmark when it breaks.
class End {
 public:
  virtual ~End() = default;
  virtual void send(corelane::Bytes message) = 0;
  virtual void receive(corelane::MutableBytes message) = 0;
};

using MakeEnd = std::function<std::unique_ptr<End>(int side)>;  // 0 in the parent, 1 in the child

struct Link {
  std::string name;
  std::function<MakeEnd(std::size_t size)> make;  // called before the fork; for messages of that size
};

// Two rings of records in bare shared memory between two processes that spin. Shows the cost of the memory itself.
Link raw_ring();
Link unix_socket();
Link pipe_pair();
// `in_place`: large messages are written into a draft, and the reader reads them as a loan, without copies.
Link channel_link(std::string name, corelane::channel::Wake wake, corelane::os::WaitMode mode, bool in_place = false);

// The signal for ends that wake each other by a signal; blocked in every thread.
inline constexpr int wake_signal = 40;

}  // namespace channels
