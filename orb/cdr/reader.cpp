#include "orb/cdr/reader.h"

#include <algorithm>
#include <new>
#include <utility>

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
  return fail(code == minor::out_of_memory ? ErrorKind::no_memory : ErrorKind::marshal, code);
}

bool Reader::fail(ErrorKind kind, std::uint32_t code) noexcept {
  if (minor_ == 0) kind_ = kind, minor_ = code;
  if (shared_) shared_->failed = true;
  end_ = limit_ = cursor_;
  return false;
}

void Reader::expect(Arrival& arrival, std::size_t there) {
  shared()->arrival = &arrival;
  end_ = begin_ + std::min(there, static_cast<std::size_t>(limit_ - begin_));
}

bool Reader::await(const std::byte* end) noexcept {
  const auto there = shared_->arrival->await(end);
  if (!there) return fail(there.error().kind, there.error().minor);
  end_ = std::min(*there, limit_);
  return true;
}

bool Reader::read_arriving(Bytes& out, std::size_t most) noexcept {
  constexpr std::size_t piece = 64 * 1024;  // the sender copies the next one meanwhile
  if (most > available()) return truncated();
  if (cursor_ == end_ && most != 0 && !await(cursor_ + std::min(most, piece))) return false;
  out = {cursor_, std::min(most, remaining())};
  cursor_ += out.size();
  return true;
}

bool Reader::read_block_arriving(void* out, std::size_t size, std::size_t alignment) noexcept {
  if (!align(alignment)) return false;
  auto* to = static_cast<std::byte*>(out);
  for (Bytes piece; size != 0; size -= piece.size(), to += piece.size()) {  // bound: size
    if (!read_arriving(piece, size)) return false;
    copy_bytes(to, piece.data(), piece.size());
  }
  return true;
}

bool Reader::truncated() noexcept { return fail(minor::truncated); }

void Reader::abandon() noexcept { fail(minor::bad_value_state); }

bool Reader::enter() noexcept {
  if (depth_ >= max_depth) return fail(minor::too_deep);
  ++depth_;
  return ok();
}

bool Reader::length_refused(std::size_t min_element_size) noexcept {
  return fail(min_element_size == 0 ? minor::too_many_empty : minor::sequence_too_long);
}

[[gnu::hot, gnu::flatten]] bool Reader::read_string(std::string_view& out) noexcept {
  std::uint32_t length = 0;
  if (!read(length)) return false;
  if (length == 0) return out = {}, true;
  const std::byte* at = take(length, 1);
  if (at == nullptr) return false;
  if (std::memchr(at, 0, length) != at + length - 1) return fail(minor::bad_string);
  out = {reinterpret_cast<const char*>(at), length - 1};
  return true;
}

Reader Reader::read_encapsulation() noexcept {
  Bytes content;
  if (read_octets(content)) {
    Reader inner = of_encapsulation(content, environment_);
    inner.depth_ = depth_;
    inner.shared_ = shared_;
    inner.wide_form_ = wide_form_;
    inner.code_sets_ = code_sets_;
    if (inner.enter()) return inner;
    fail(inner);
  }
  Reader failed;
  failed.fail(*this);
  return failed;
}

// Chunks.

void Reader::leave_chunk() noexcept { cursor_ = end_, end_ = limit_; }

// Chunks are read only when the whole message is there.
void Reader::await_chunk() noexcept {
  if (shared_ && shared_->arrival != nullptr && !await(limit_)) return;
  end_ = chunk_level_ == 0 ? limit_ : cursor_;
}

bool Reader::open_chunk(std::size_t size) noexcept {
  if (size > available()) return fail(minor::truncated);
  end_ = cursor_ + size;
  return true;
}

bool Reader::end_level(std::int32_t tag) noexcept {
  const std::int64_t level = -std::int64_t{tag};
  if (level < 1 || level > chunk_level_) return fail(minor::bad_value_tag);
  ended_level_ = static_cast<int>(level);
  end_level_again();
  return true;
}

void Reader::end_level_again() noexcept {
  if (ended_level_ == chunk_level_) ended_level_ = 0;
  --chunk_level_;
  await_chunk();
}

Reader Reader::at_value(const std::byte* tag, int level) const noexcept {
  Reader other = *this;
  other.cursor_ = tag;
  other.chunk_level_ = level;
  other.ended_level_ = 0;
  other.await_chunk();
  return other;
}

const std::shared_ptr<Shared>& Reader::shared() {
  if (!shared_) shared_ = std::make_shared<Shared>();
  return shared_;
}

// Moves from the end of a chunk into the next chunk of the same value.
bool Reader::next_chunk() noexcept {
  if (level_ended()) return fail(minor::bad_value_tag);
  end_ = limit_;
  std::int32_t size = 0;
  const int level = std::exchange(chunk_level_, 0);
  const bool found = read(size);
  chunk_level_ = level;
  if (!found) return false;
  if (size <= 0 || static_cast<std::uint32_t>(size) >= least_value_tag) return fail(minor::bad_value_tag);
  return open_chunk(static_cast<std::size_t>(size));
}

const std::byte* Reader::take_slowly(std::size_t n, std::size_t alignment) noexcept {
  if (is_arriving()) return complete() ? take(n, alignment) : nullptr;
  if (chunk_level_ == 0 || n > available()) return truncated(), nullptr;
  // Bound: each round opens a chunk of at least one byte, and padding is less than 8.
  while (remaining() <= padding(offset(), alignment)) {
    cursor_ = end_;
    if (!next_chunk()) return nullptr;
  }
  const std::size_t pad = padding(offset(), alignment);
  if (n <= remaining() - pad) return cursor_ += pad + n, cursor_ - n;
  if (n == alignment) return truncated(), nullptr;  // chunks never split a single value
  cursor_ += pad;
  try {
    return gather(n);
  } catch (const std::bad_alloc&) {
    return fail(minor::out_of_memory), nullptr;
  }
}

// Copies data that continue in further chunks into one piece.
const std::byte* Reader::gather(std::size_t n) {
  std::vector<std::byte> piece;
  piece.reserve(n);  // take_slowly(): as many bytes have arrived
  while (piece.size() < n) {
    if (cursor_ == end_ && !next_chunk()) return nullptr;
    const std::size_t part = std::min(n - piece.size(), remaining());
    piece.insert(piece.end(), cursor_, cursor_ + part);
    cursor_ += part;
  }
  return shared()->pieces.emplace_back(std::move(piece)).data();
}

}  // namespace corelane::cdr
