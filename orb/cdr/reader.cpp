#include "orb/cdr/reader.h"

#include "orb/base/minor.h"

namespace corelane::cdr {

Reader Reader::of_encapsulation(Bytes bytes, Environment* environment) noexcept {
  Reader reader(bytes, native_order, 0, environment);
  std::uint8_t order = 0;
  if (reader.read(order) && order > 1) reader.fail(minor::bad_encapsulation);
  if (reader.ok()) reader.swap_ = static_cast<ByteOrder>(order) != native_order;
  return reader;
}

bool Reader::fail(std::uint32_t code) noexcept {
  if (minor_ == 0) minor_ = code;
  end_ = cursor_;
  return false;
}

bool Reader::truncated() noexcept { return fail(minor::truncated); }
bool Reader::bad_boolean() noexcept { return fail(minor::bad_boolean); }

bool Reader::enter() noexcept {
  if (depth_ >= max_depth) return fail(minor::too_deep);
  ++depth_;
  return ok();
}

bool Reader::read_length(std::uint32_t& count, std::size_t min_element_size) noexcept {
  std::uint32_t n = 0;
  if (!read(n)) return false;
  const std::uint64_t most = min_element_size == 0 ? max_empty_elements : remaining() / min_element_size;
  if (n > most) return fail(minor::sequence_too_long);
  count = n;
  return true;
}

bool Reader::read_string(std::string_view& out) noexcept {
  std::uint32_t length = 0;
  if (!read(length)) return false;
  if (length == 0) return fail(minor::bad_string);
  const std::byte* at = take(length, 1);
  if (at == nullptr) return false;
  if (std::memchr(at, 0, length) != at + length - 1) return fail(minor::bad_string);
  out = {reinterpret_cast<const char*>(at), length - 1};
  return true;
}

bool Reader::read_bytes(Bytes& out, std::size_t count) noexcept {
  const std::byte* at = take(count, 1);
  if (at == nullptr) return false;
  out = {at, count};
  return true;
}

bool Reader::read_octets(Bytes& out) noexcept {
  std::uint32_t count = 0;
  return read_length(count, 1) && read_bytes(out, count);
}

Reader Reader::read_encapsulation() noexcept {
  Bytes content;
  if (read_octets(content)) {
    Reader inner = of_encapsulation(content, environment_);
    inner.depth_ = depth_;
    inner.wide_form_ = wide_form_;
    if (inner.enter()) return inner;
    fail(inner.minor());
  }
  Reader failed;
  failed.fail(minor_);
  return failed;
}

}  // namespace corelane::cdr
