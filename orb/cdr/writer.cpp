#include "orb/cdr/writer.h"

#include <algorithm>
#include <new>

#include "orb/base/copy.h"
#include "orb/base/minor.h"

namespace corelane::cdr {

[[gnu::hot]] void Writer::clear(ByteOrder order, std::size_t offset) noexcept {
  swap_ = order != native_order;
  wide_form_ = WideForm::counted;
  code_sets_ = {};
  depends_on_code_set_ = false;
  offset_ = offset;
  size_ = body_from_ = body_at_ = 0;
  tail_ = {};
  memory_ = nullptr;
  base_ = data_.get();
  allocated_ = owned_;
  chunk_ = Chunk::none;
  chunk_level_ = 0;
  ended_at_ = 0;
  table_.reset();
  error_.reset();
  capacity_ = std::min(allocated_, limit_);
}

void Writer::fail(ErrorKind kind, std::uint32_t code) noexcept {
  if (!error_) error_ = Error{kind, Completion::no, code};
  capacity_ = size_;
}

void Writer::fail_too_large() noexcept { fail(ErrorKind::imp_limit, minor::message_too_large); }

void Writer::write_string(std::string_view text) {
  if (!text.empty() && std::memchr(text.data(), 0, text.size()) != nullptr)
    return fail(ErrorKind::bad_param, minor::string_has_nul);
  write_length(text.size() + 1);
  write_block(text.data(), text.size());
  write(std::uint8_t{0});
}

Writer::Encapsulation Writer::begin_encapsulation() {
  write(std::uint32_t{0});
  const Encapsulation mark{size_ - std::min(size_, sizeof(std::uint32_t)), offset_};
  offset_ = std::size_t{0} - size_;
  write_order();
  return mark;
}

void Writer::end_encapsulation(Encapsulation mark) noexcept {
  offset_ = mark.offset;
  if (ok()) patch(mark.length_at, static_cast<std::uint32_t>(size() - mark.length_at - sizeof(std::uint32_t)));
}

std::byte* Writer::claim_slowly(std::size_t n, std::size_t alignment) {
  make_ready();
  return grow(padding(size_ + offset_, alignment), n) ? claim(n, alignment) : nullptr;
}

// Prepares the buffer for more bytes.
void Writer::make_ready() {
  if (chunk_ == Chunk::due) open_chunk();
  if (!tail_.empty()) copy_lasting();
}

void Writer::refer(Bytes bytes) {
  if (error_ || !is_within_limit(0, bytes.size())) return;
  const std::size_t needed = size_ + bytes.size();
  const bool uses_memory = memory_ != nullptr && needed > memory_from;
  const bool has_room = uses_memory && (is_lent() || (!memory_->refers(bytes.size()) && move_to_memory(needed)));
  if (has_room || chunk_level_ != 0) return write_bytes(bytes);
  tail_ = bytes;
  capacity_ = size_;
}

void Writer::copy_lasting() noexcept {
  const Bytes tail = std::exchange(tail_, {});
  reset_capacity();
  write_bytes(tail);
}

void Writer::write_rest_of(const Writer& other, std::size_t position) {
  write_bytes(other.bytes().subspan(std::min(position, other.size_)));
  if (!other.tail_.empty())
    write_lasting(reinterpret_cast<const std::uint8_t*>(other.tail_.data()), other.tail_.size());
}

void Writer::open_chunk() {
  chunk_ = Chunk::none;
  reset_capacity();
  write(std::uint32_t{0});
  if (!ok()) return;
  chunk_at_ = size_ - sizeof(std::uint32_t);
  chunk_ = Chunk::open;
}

void Writer::await_chunk() noexcept {
  chunk_ = Chunk::due;
  capacity_ = size_;
}

void Writer::leave_chunk() noexcept {
  if (chunk_ == Chunk::open) {
    const std::size_t size = size_ - chunk_at_ - sizeof(std::uint32_t);
    if (size == 0)
      size_ = chunk_at_;
    else
      patch(chunk_at_, static_cast<std::uint32_t>(size));
    if (size >= 0x7fff'ff00) fail(ErrorKind::imp_limit, minor::message_too_large);
  }
  chunk_ = Chunk::none;
  reset_capacity();
}

void Writer::end_chunks() {
  leave_chunk();
  const auto tag = static_cast<std::int32_t>(-chunk_level_);
  // One tag ends all values that end here. Merging tags is optional, but omniORB cannot read two in a row.
  if (size_ != 0 && size_ == ended_at_)
    patch(size_ - sizeof tag, static_cast<std::uint32_t>(tag));
  else
    write(tag);
  ended_at_ = size_;
  if (--chunk_level_ > 0) await_chunk();
}

// Returns whether the bytes fit the limit; fails the writer if not.
bool Writer::is_within_limit(std::size_t pad, std::size_t n) noexcept {
  if (n <= limit_ && pad <= limit_ - n && size_ <= limit_ - n - pad) return true;
  fail(ErrorKind::imp_limit, minor::message_too_large);
  return false;
}

bool Writer::grow(std::size_t pad, std::size_t n) {
  if (error_ || !is_within_limit(pad, n)) return false;
  const std::size_t needed = size_ + pad + n;
  if (move_to_memory(needed) || needed <= allocated_ || move_to_heap(needed)) return reset_capacity(), true;
  fail(ErrorKind::no_memory, minor::out_of_memory);
  return false;
}

bool Writer::move_to_memory(std::size_t needed) noexcept {
  if (memory_ == nullptr || needed <= (is_lent() ? allocated_ : memory_from)) return false;
  const MutableBytes lent = memory_->lend(needed);
  if (lent.size() < needed) return memory_ = nullptr, false;  // gives up the memory for this message
  move_to(lent.data(), lent.size());
  return true;
}

bool Writer::move_to_heap(std::size_t needed) noexcept {
  constexpr std::size_t smallest = 512;
  const std::size_t larger = std::max({needed, allocated_ * 2, smallest});
  std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[larger]);
  if (!data) return false;
  move_to(data.get(), larger);
  data_ = std::move(data);
  owned_ = larger;
  return true;
}

void Writer::move_to(std::byte* memory, std::size_t bytes) noexcept {
  copy_bytes(memory, base_, size_);
  base_ = memory;
  allocated_ = bytes;
}

void Writer::swap_state(Writer& other) noexcept {
  std::swap(swap_, other.swap_);
  std::swap(wide_form_, other.wide_form_);
  std::swap(code_sets_, other.code_sets_);
  std::swap(depends_on_code_set_, other.depends_on_code_set_);
  std::swap(offset_, other.offset_);
  std::swap(data_, other.data_);
  std::swap(owned_, other.owned_);
  std::swap(base_, other.base_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(allocated_, other.allocated_);
  std::swap(limit_, other.limit_);
  std::swap(body_from_, other.body_from_);
  std::swap(body_at_, other.body_at_);
  std::swap(chunk_, other.chunk_);
  std::swap(chunk_level_, other.chunk_level_);
  std::swap(chunk_at_, other.chunk_at_);
  std::swap(ended_at_, other.ended_at_);
  std::swap(tail_, other.tail_);
  std::swap(table_, other.table_);
  std::swap(error_, other.error_);
}

}  // namespace corelane::cdr
