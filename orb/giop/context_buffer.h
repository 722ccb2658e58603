// ContextBuffer collects the service contexts of a message that is being written. It has a fixed size and allocates
// nothing.
//
// Threads: none; it belongs to the message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "orb/base/bytes.h"
#include "orb/giop/contexts.h"

namespace corelane::giop {

class ContextBuffer {
 public:
  static constexpr std::size_t most = 12, most_bytes = 1024;  // contexts, and their copied content

  ContextBuffer() = default;
  ContextBuffer(const ContextBuffer&) = delete;
  ContextBuffer& operator=(const ContextBuffer&) = delete;

  // Adds a context with a copy of the content. Returns false, and adds nothing, if there is no room for it.
  bool add(std::uint32_t id, Bytes content) noexcept {
    if (count_ == most || content.size() > most_bytes - used_) return false;
    std::byte* const copy = bytes_.data() + used_;
    if (!content.empty()) std::memcpy(copy, content.data(), content.size());
    used_ += content.size();
    return add_view({id, Bytes(copy, content.size())});
  }
  // Adds a context whose content lasts until the message is written.
  bool add_view(const ServiceContext& context) noexcept {
    return count_ < most && (contexts_[count_++] = context, true);
  }

  std::span<const ServiceContext> all() const noexcept { return std::span(contexts_).first(count_); }

 private:
  std::array<ServiceContext, most> contexts_{};
  std::array<std::byte, most_bytes> bytes_;  // only the first `used_` are set
  std::size_t count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace corelane::giop
