// DelayBuffer keeps messages that were read but are not wanted yet. A thread that waits for one message, for example
// the reply to a request, reads past the others. They stay here in their order, and later reads return them first.
//
// Thread: the channel's reader. Allocates only at construction.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/copy.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/channel.h"

namespace corelane::channel {

class DelayBuffer {
 public:
  // Makes room for so many messages, with so many bytes together.
  DelayBuffer(std::size_t messages, std::size_t bytes) : bytes_(bytes) { sizes_.reserve(messages); }

  // Reads the oldest wanted message, delayed or still to come, into `buffer`, and returns its size. Calls `wanted` once
  // for each message, with its bytes, which the peer may still change. too_long: the message stays where it is.
  // would_block: there is no room to delay another message; read the delayed ones first. Otherwise behaves like
  // Channel::read().
  template <typename Wanted>
  Expected<std::size_t, Fault> read(Channel& channel, Wanted&& wanted, MutableBytes buffer, Time deadline) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < sizes_.size(); at += sizes_[i++])
      if (wanted(Bytes(bytes_).subspan(at, sizes_[i]))) return take(i, at, buffer);
    while (true) {  // bound: the room here, and the deadline
      if (const auto came = channel.wait(deadline); !came) return came.error();
      const auto front = channel.peek();
      if (!front) return front.error();
      if (wanted(*front)) return channel.try_read(buffer);
      if (!keep(*front)) return Fault::would_block;
      channel.pop();
    }
  }
  // Reads the oldest message of all.
  Expected<std::size_t, Fault> read(Channel& channel, MutableBytes buffer, Time deadline) {
    return read(
        channel, [](Bytes) { return true; }, buffer, deadline);
  }

  std::size_t delayed() const noexcept { return sizes_.size(); }

 private:
  bool keep(Bytes message) noexcept {
    if (sizes_.size() == sizes_.capacity() || message.size() > bytes_.size() - used_) return false;
    copy_bytes(bytes_.data() + used_, message.data(), message.size());
    sizes_.push_back(message.size());
    used_ += message.size();
    return true;
  }

  Expected<std::size_t, Fault> take(std::size_t index, std::size_t at, MutableBytes buffer) noexcept {
    const std::size_t size = sizes_[index], behind = used_ - at - size;
    if (size > buffer.size()) return Fault::too_long;
    copy_bytes(buffer.data(), bytes_.data() + at, size);
    if (behind != 0) std::memmove(bytes_.data() + at, bytes_.data() + at + size, behind);
    sizes_.erase(sizes_.begin() + static_cast<std::ptrdiff_t>(index));
    used_ -= size;
    return size;
  }

  std::vector<std::byte> bytes_;  // the messages, one after the other
  std::vector<std::size_t> sizes_;
  std::size_t used_ = 0;
};

}  // namespace corelane::channel
