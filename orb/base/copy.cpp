#include "orb/base/copy.h"

namespace corelane::detail {

void copy_by_registers(void* to, const void* from, std::size_t size) noexcept {
  struct Block {
    std::byte bytes[128];
  };
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::byte* const last = source + size / sizeof(Block) * sizeof(Block);
  for (; source != last; source += sizeof(Block), target += sizeof(Block)) {  // bound: the size
    Block block;
    std::memcpy(&block, source, sizeof block);
    std::memcpy(target, &block, sizeof block);
  }
  std::memcpy(target, source, size % sizeof(Block));
}

}  // namespace corelane::detail
