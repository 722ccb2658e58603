#include "orb/base/copy.h"

namespace corelane::detail {

namespace {

// A vector type keeps the value in one register. The compiler would store a struct of the same size on the stack as
// well.
using Register [[gnu::vector_size(16)]] = std::uint64_t;
constexpr std::size_t block = 8 * sizeof(Register);

Register read(const std::byte* from) noexcept {
  Register value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void write(std::byte* to, Register value) noexcept { std::memcpy(to, &value, sizeof value); }

void copy_block(std::byte* to, const std::byte* from) noexcept {
  const Register a = read(from), b = read(from + 16), c = read(from + 32), d = read(from + 48);
  const Register e = read(from + 64), f = read(from + 80), g = read(from + 96), h = read(from + 112);
  write(to, a), write(to + 16, b), write(to + 32, c), write(to + 48, d);
  write(to + 64, e), write(to + 80, f), write(to + 96, g), write(to + 112, h);
}

}  // namespace

void copy_by_registers(void* to, const void* from, std::size_t size) noexcept {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::byte* const last = source + size / block * block;
  for (; source != last; source += block, target += block) copy_block(target, source);  // bound: the size
  std::memcpy(target, source, size % block);
}

}  // namespace corelane::detail
