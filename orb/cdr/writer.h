// Writer encodes values as CDR into its own buffer. It keeps the buffer, so a reused writer allocates nothing. CORBA
// 3.3 part 2, 9.3.
//
// Inside a chunked value (9.3.4.6) it divides the data into chunks by itself; orb/any/value_write.h marks where values
// begin and end.
//
// A long block at the end of the message need not be copied: write_lasting() refers to it, and parts() returns both
// pieces. If more is written after it, the block is copied.
//
// Threads: one at a time. Invariant: after the first failure nothing more is written and error() says why. A failure is
// an exceeded limit, a lack of memory, or a string that CORBA cannot carry.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/copy.h"
#include "orb/base/error.h"
#include "orb/cdr/primitive.h"

namespace corelane::cdr {

// State that the encoders of one message share; orb/any derives from it.
struct WriterTable {
  virtual ~WriterTable() = default;
};

// MessageMemory provides memory of another object for a long message. Thread: the writer's.
class MessageMemory {
 public:
  // Returns at least `bytes` bytes, valid until two more calls or until the memory ends. Fewer bytes: there is no
  // memory.
  virtual MutableBytes lend(std::size_t bytes) noexcept = 0;
  // Returns whether write_lasting() should refer to a block of so many bytes, although there is memory for it. Asked
  // only while the bytes before the block do not lie in such memory.
  virtual bool refers(std::size_t /*bytes*/) noexcept { return false; }

 protected:
  ~MessageMemory() = default;
};

class Writer {
 public:
  static constexpr std::size_t largest = 0x7fff'ffff;
  static constexpr std::size_t memory_from = 64 * 1024;  // a message with more bytes goes into a MessageMemory
  // From this size on, write_lasting() refers to a block. Copying a shorter one takes no longer than handling a second
  // part.
  static constexpr std::size_t refers_from = 16 * 1024;

  // `offset`: the position of the first byte, counted from the origin of alignment.
  explicit Writer(ByteOrder order = native_order, std::size_t offset = 0) noexcept
      : swap_(order != native_order), offset_(offset) {}
  Writer(Writer&& other) noexcept { swap_state(other); }
  Writer& operator=(Writer&& other) noexcept {
    if (this != &other) Writer(std::move(other)).swap_state(*this);
    return *this;
  }

  // Discards the bytes and the failure; keeps the memory.
  void clear(ByteOrder order, std::size_t offset = 0) noexcept;
  void clear() noexcept { clear(order()); }

  ByteOrder order() const noexcept {
    return (native_order == ByteOrder::little) != swap_ ? ByteOrder::little : ByteOrder::big;
  }
  std::size_t size() const noexcept { return size_ + tail_.size(); }
  // Returns the size of the memory that clear() keeps: that of the longest message that was not in a MessageMemory.
  std::size_t kept_bytes() const noexcept { return owned_; }
  // Returns the next byte's position, counted from the origin of alignment.
  std::size_t offset() const noexcept { return size() + offset_; }
  // Returns the bytes without a block that write_lasting() refers to. Valid until the next write.
  Bytes bytes() const noexcept { return {base_, size_}; }
  // Returns the whole message in one or two parts. Valid until the next write, and while the block of the second part
  // is.
  std::span<const Bytes> parts() noexcept {
    parts_ = {bytes(), tail_};
    return std::span(parts_).first(tail_.empty() ? 1 : 2);
  }
  std::vector<std::byte> to_vector() const { return {base_, base_ + size_}; }

  // Sets where this message goes if it becomes long, until clear(). The memory must outlive the use of bytes(). Null:
  // no memory.
  void set_memory(MessageMemory* memory) noexcept {
    memory_ = memory;
    reset_capacity();
  }

  bool ok() const noexcept { return !error_; }
  // Call it only if !ok().
  Error error() const noexcept { return *error_; }
  void fail(ErrorKind kind, std::uint32_t minor) noexcept;
  // Sets the limit: a message of more than `bytes` bytes fails with IMP_LIMIT. At most `largest`; clear() keeps it.
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes < largest ? bytes : largest; }

  WideForm wide_form() const noexcept { return wide_form_; }
  // clear() resets it to `counted`.
  void set_wide_form(WideForm form) noexcept { wide_form_ = form; }
  const CodeSets& code_sets() const noexcept { return code_sets_; }
  // clear() resets it to the default.
  void set_code_sets(const CodeSets& sets) noexcept { code_sets_ = sets; }
  // Returns whether the message contains text whose bytes depend on the code set.
  bool depends_on_code_set() const noexcept { return depends_on_code_set_; }
  void note_code_set() noexcept { depends_on_code_set_ = true; }

  // Fills with zeros up to the next multiple of `alignment` (1, 2, 4 or 8).
  void align(std::size_t alignment) {
    if (size_ == capacity_) make_ready();
    if (padding(size_ + offset_, alignment) != 0) claim(0, alignment);
  }

  template <Primitive T>
  void write(T value) {
    if (std::byte* at = claim(sizeof(T), sizeof(T))) {
      const auto raw = to_raw(value, swap_);
      std::memcpy(at, &raw, sizeof raw);
    }
  }

  // Writes `count` values, aligned once, without a length before them.
  template <Primitive T>
  void write_block(const T* values, std::size_t count) {
    if (count == 0) return;
    std::byte* at = claim(count * sizeof(T), sizeof(T));
    if (at == nullptr) return;
    if (sizeof(T) == 1 || !swap_) {
      copy_bytes(at, values, count * sizeof(T));
      return;
    }
    for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {  // bound: count; claim() made room for all
      const auto raw = to_raw(values[i], true);
      std::memcpy(at, &raw, sizeof raw);
    }
  }

  // Like write_block(), for values that do not change until the message has been sent. A long block that needs no
  // conversion is not copied as long as nothing follows it.
  template <Primitive T>
  void write_lasting(const T* values, std::size_t count) {
    if (count < refers_from / sizeof(T) || (sizeof(T) > 1 && swap_)) return write_block(values, count);
    align(sizeof(T));
    refer({reinterpret_cast<const std::byte*>(values), count * sizeof(T)});
  }
  // Returns whether the memory of the message wants write_lasting() to refer to a block of so many bytes.
  bool wants_reference(std::size_t bytes) const noexcept {
    return memory_ != nullptr && !is_lent() && chunk_level_ == 0 && size_ + bytes > memory_from &&
           memory_->refers(bytes);
  }
  // Returns whether the message ends with a block that write_lasting() refers to.
  bool has_lasting() const noexcept { return !tail_.empty(); }
  // Copies the block that write_lasting() refers to. The writer fails if there is no memory for it.
  void copy_lasting() noexcept;
  // Appends the message of `other` from `position` of its bytes() on. A block that `other` refers to stays a reference.
  void write_rest_of(const Writer& other, std::size_t position);

  // Writes the count before a sequence's elements.
  void write_length(std::size_t count) {
    if (count > largest) [[unlikely]]
      return fail_too_large();
    write(static_cast<std::uint32_t>(count));
  }
  // Writes the length with the terminating NUL, the characters, and the NUL. encode() converts the characters before
  // (text.h).
  void write_string(std::string_view text);
  // Writes bytes unchanged: no length, no alignment.
  void write_bytes(Bytes bytes) { write_block(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()); }
  // Writes a sequence<octet>.
  void write_octets(Bytes bytes) {
    write_length(bytes.size());
    write_bytes(bytes);
  }

  // Overwrites a ulong written earlier at `position` of bytes().
  void patch(std::size_t position, std::uint32_t value) noexcept {
    if (!ok() || size_ < sizeof value || position > size_ - sizeof value) return;
    const auto raw = to_raw(value, swap_);
    std::memcpy(base_ + position, &raw, sizeof raw);
  }

  // Write an encapsulation as a sequence<octet>: length, byte order, then everything written before
  // end_encapsulation(), aligned from the byte order on. Encapsulations nest.
  struct Encapsulation {
    std::size_t length_at;
    std::size_t offset;
  };
  Encapsulation begin_encapsulation();
  void end_encapsulation(Encapsulation mark) noexcept;
  // Writes the byte order of an encapsulation that is the whole content of this writer (offset 0).
  void write_order() { write(order() == ByteOrder::little); }

  // Returns the number of chunked values around the next byte; 0: none.
  int chunk_level() const noexcept { return chunk_level_; }
  // Ends the open chunk, before the header of a value. Call begin_chunks() after the header.
  void leave_chunk() noexcept;
  void begin_chunks() noexcept { ++chunk_level_, await_chunk(); }
  // Ends the innermost chunked value.
  void end_chunks();

  // Returns the table, which lives until clear() or forget().
  std::unique_ptr<WriterTable>& table() noexcept { return table_; }
  // Discards the table and keeps the bytes. Nothing more of this message may follow.
  void forget() noexcept { table_.reset(); }

  // Begin and end the body. GIOP 1.2 aligns a body to 8, but only a body that exists: finish_body() removes the padding
  // if nothing followed it.
  void begin_body() {
    body_from_ = size_;
    align(8);
    body_at_ = size_;
  }
  void finish_body() noexcept {
    if (size() == body_at_) size_ = body_from_;
    body_from_ = body_at_ = size_;
  }
  // Returns where the body's padding begins, after begin_body().
  std::size_t header_end() const noexcept { return body_from_; }

 private:
  // Returns room for n bytes after alignment; null after a failure.
  [[gnu::hot]] std::byte* claim(std::size_t n, std::size_t alignment) {
    const std::size_t pad = padding(size_ + offset_, alignment);
    if (n > capacity_ - size_ || pad > capacity_ - size_ - n) [[unlikely]]
      return claim_slowly(n, alignment);
    std::byte* at = base_ + size_;
    for (std::size_t i = 0; i < pad; ++i) at[i] = std::byte{0};  // bound: 7
    size_ += pad + n;
    return at + pad;
  }
  enum class Chunk : std::uint8_t { none, due, open };  // due: the next byte opens a chunk

  std::byte* claim_slowly(std::size_t n, std::size_t alignment);
  void make_ready();
  void refer(Bytes bytes);
  bool is_within_limit(std::size_t pad, std::size_t n) noexcept;
  bool grow(std::size_t pad, std::size_t n);
  bool is_lent() const noexcept { return base_ != data_.get(); }
  bool move_to_memory(std::size_t needed) noexcept;
  bool move_to_heap(std::size_t needed) noexcept;
  void move_to(std::byte* memory, std::size_t bytes) noexcept;
  void open_chunk();
  void await_chunk() noexcept;
  void reset_capacity() noexcept {
    capacity_ = error_ || !tail_.empty() ? size_ : std::min(allocated_, limit_);
    if (capacity_ == size_ || memory_ == nullptr || is_lent()) return;
    capacity_ = std::max(size_, std::min(capacity_, memory_from));
  }
  void fail_too_large() noexcept;
  void swap_state(Writer& other) noexcept;

  bool swap_ = false;
  WideForm wide_form_ = WideForm::counted;
  CodeSets code_sets_;
  bool depends_on_code_set_ = false;
  std::size_t offset_ = 0;
  std::unique_ptr<std::byte[]> data_;
  std::size_t owned_ = 0;      // size of data_
  std::byte* base_ = nullptr;  // data_, or part of memory_
  MessageMemory* memory_ = nullptr;
  std::size_t size_ = 0;
  // Equals size_ after a failure, when a chunk is due, and when tail_ is not empty, so that claim() needs only one
  // test.
  std::size_t capacity_ = 0;
  std::size_t allocated_ = 0;  // size of the memory at base_
  std::size_t limit_ = largest;
  std::size_t body_from_ = 0;  // position before the body's padding
  std::size_t body_at_ = 0;    // position after it
  Chunk chunk_ = Chunk::none;
  int chunk_level_ = 0;
  std::size_t chunk_at_ = 0;  // position of the open chunk's size
  std::size_t ended_at_ = 0;  // position after the last end tag
  Bytes tail_;                // follows the bytes at base_: a block that write_lasting() refers to
  std::array<Bytes, 2> parts_;
  std::unique_ptr<WriterTable> table_;
  std::optional<Error> error_;
};

}  // namespace corelane::cdr
