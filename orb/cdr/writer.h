// Writer: encodes values as CDR into a buffer that it owns and keeps, so that a reused writer allocates nothing.
// CORBA 3.3 part 2, 9.3.
//
// Inside a chunked value (9.3.4.6) it divides what is written into chunks by itself; orb/any/value_write.h says where
// values begin and end.
//
// A long block at the end of the message need not be copied: write_lasting() refers to it, and parts() gives both
// pieces. What is written behind it copies it after all.
//
// Threads: one at a time. Invariant: after the first failure nothing more is written and error() says why; a failure is
// a limit exceeded or a string that CORBA cannot carry.
#pragma once

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

// What the encoders of one message share; of orb/any.
struct WriterTable {
  virtual ~WriterTable() = default;
};

// Memory that somebody else has for a long message. Thread: the writer's.
class Room {
 public:
  // At least so many bytes, until two more calls or the room's own end; fewer: there is none.
  virtual MutableBytes lend(std::size_t bytes) noexcept = 0;

 protected:
  ~Room() = default;
};

class Writer {
 public:
  static constexpr std::size_t largest = 0x7fff'ffff;
  static constexpr std::size_t room_from = 64 * 1024;  // bytes of a message, more of which go into a Room
  // Bytes of a block that write_lasting() refers to. A shorter one is copied in the time that a second part costs.
  static constexpr std::size_t refers_from = 16 * 1024;

  // `offset`: where the first byte stands, counted from the origin of alignment.
  explicit Writer(ByteOrder order = native_order, std::size_t offset = 0) noexcept
      : swap_(order != native_order), offset_(offset) {}
  Writer(Writer&& other) noexcept { swap_state(other); }
  Writer& operator=(Writer&& other) noexcept {
    if (this != &other) Writer(std::move(other)).swap_state(*this);
    return *this;
  }

  // Forgets the bytes and the failure, keeps the memory.
  void clear(ByteOrder order, std::size_t offset = 0) noexcept;
  void clear() noexcept { clear(order()); }

  ByteOrder order() const noexcept {
    return (native_order == ByteOrder::little) != swap_ ? ByteOrder::little : ByteOrder::big;
  }
  std::size_t size() const noexcept { return size_ + tail_.size(); }
  // Memory that it keeps over clear(): that of the longest message which did not lie in a Room.
  std::size_t kept_bytes() const noexcept { return owned_; }
  // The next byte's place counted from the origin of alignment.
  std::size_t offset() const noexcept { return size() + offset_; }
  // Valid until the next write. Without a block that write_lasting() refers to.
  Bytes bytes() const noexcept { return {base_, size_}; }
  // All of the message, in one or two parts. Valid until the next write and as long as what the second refers to.
  std::span<const Bytes> parts() noexcept {
    parts_ = {bytes(), tail_};
    return std::span(parts_).first(tail_.empty() ? 1 : 2);
  }
  std::vector<std::byte> to_vector() const { return {base_, base_ + size_}; }

  // Where this message goes once it is long; until clear(), and the room outlives what bytes() gave. Null: nowhere
  // else.
  void set_room(Room* room) noexcept {
    room_ = room;
    reset_capacity();
  }

  bool ok() const noexcept { return !error_; }
  // Call only when !ok().
  Error error() const noexcept { return *error_; }
  void fail(ErrorKind kind, std::uint32_t minor) noexcept;
  // Bytes beyond `bytes` fail with IMP_LIMIT. At most `largest`; stays over clear().
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes < largest ? bytes : largest; }

  WideForm wide_form() const noexcept { return wide_form_; }
  // Back to `counted` at clear().
  void set_wide_form(WideForm form) noexcept { wide_form_ = form; }
  const CodeSets& code_sets() const noexcept { return code_sets_; }
  // Back to the default at clear().
  void set_code_sets(const CodeSets& sets) noexcept { code_sets_ = sets; }
  // Whether text was written that another code set would spell in other bytes.
  bool depends_on_code_set() const noexcept { return depends_on_code_set_; }
  void note_code_set() noexcept { depends_on_code_set_ = true; }

  // Fills with zeros up to the next multiple of `alignment` (1, 2, 4 or 8).
  void align(std::size_t alignment) {
    if (size_ == capacity_) make_ready();
    claim(0, alignment);
  }

  template <Primitive T>
  void write(T value) {
    if (std::byte* at = claim(sizeof(T), sizeof(T))) {
      const auto raw = to_raw(value, swap_);
      std::memcpy(at, &raw, sizeof raw);
    }
  }

  // `count` values, aligned once, without a length before them.
  template <Primitive T>
  void write_block(const T* values, std::size_t count) {
    if (count == 0) return;
    std::byte* at = claim(count * sizeof(T), sizeof(T));
    if (at == nullptr) return;
    if (sizeof(T) == 1 || !swap_) {
      copy_bytes(at, values, count * sizeof(T));
      return;
    }
    for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {  // bound: count, all of it claimed
      const auto raw = to_raw(values[i], true);
      std::memcpy(at, &raw, sizeof raw);
    }
  }

  // write_block() of values that stay as they are until the message has been sent. A long block that needs no
  // conversion is not copied as long as nothing follows it.
  template <Primitive T>
  void write_lasting(const T* values, std::size_t count) {
    if (count < refers_from / sizeof(T) || (sizeof(T) > 1 && swap_)) return write_block(values, count);
    align(sizeof(T));
    refer({reinterpret_cast<const std::byte*>(values), count * sizeof(T)});
  }
  // Copies a block that write_lasting() refers to. Without memory for it the writer fails.
  void copy_lasting() noexcept;
  // Appends what `other` holds from `position` of its bytes() on. A block that it refers to stays a reference.
  void write_rest_of(const Writer& other, std::size_t position);

  // The count before a sequence's elements.
  void write_length(std::size_t count);
  // Length with the terminating NUL, characters, NUL; encode() converts them before (text.h).
  void write_string(std::string_view text);
  // Bytes as they are: no length, no alignment.
  void write_bytes(Bytes bytes) { write_block(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()); }
  // sequence<octet>.
  void write_octets(Bytes bytes) {
    write_length(bytes.size());
    write_bytes(bytes);
  }

  // Overwrites a ulong written earlier at `position` of bytes().
  void patch(std::size_t position, std::uint32_t value) noexcept;

  // An encapsulation as a sequence<octet>: length, byte order, then whatever is written before end_encapsulation(),
  // aligned from the byte order on. They nest.
  struct Encapsulation {
    std::size_t length_at;
    std::size_t offset;
  };
  Encapsulation begin_encapsulation();
  void end_encapsulation(Encapsulation mark) noexcept;
  // The byte order that opens an encapsulation which is the whole of this writer (offset 0).
  void write_order() { write(order() == ByteOrder::little); }

  // Levels of chunked values around what is written; 0: none.
  int chunk_level() const noexcept { return chunk_level_; }
  // Ends the open chunk, for the header of a value. begin_chunks() follows, behind the header.
  void leave_chunk() noexcept;
  void begin_chunks() noexcept { ++chunk_level_, await_chunk(); }
  // The end of the innermost chunked value.
  void end_chunks();

  // Until clear() or forget().
  std::unique_ptr<WriterTable>& table() noexcept { return table_; }
  // The bytes stay; nothing that belongs to the message is to follow.
  void forget() noexcept { table_.reset(); }

  // GIOP 1.2 aligns a body to 8, but only a body that is there: finish_body() takes the padding back when nothing
  // followed it.
  void begin_body();
  void finish_body() noexcept;
  // Where the body's padding begins, after begin_body().
  std::size_t header_end() const noexcept { return body_from_; }

 private:
  // Room for n bytes after alignment; null after a failure.
  std::byte* claim(std::size_t n, std::size_t alignment) {
    const std::size_t pad = padding(size_ + offset_, alignment);
    if (n > capacity_ - size_ || pad > capacity_ - size_ - n) [[unlikely]]
      return claim_slowly(n, alignment);
    std::byte* at = base_ + size_;
    for (std::size_t i = 0; i < pad; ++i) at[i] = std::byte{0};  // bound: 7
    size_ += pad + n;
    return at + pad;
  }
  enum class Chunk : std::uint8_t { none, due, open };  // due: the next byte opens one

  std::byte* claim_slowly(std::size_t n, std::size_t alignment);
  void make_ready();
  void refer(Bytes bytes);
  bool is_within_limit(std::size_t pad, std::size_t n) noexcept;
  bool grow(std::size_t pad, std::size_t n);
  bool is_lent() const noexcept { return base_ != data_.get(); }
  bool move_to_room(std::size_t needed) noexcept;
  bool move_to_heap(std::size_t needed) noexcept;
  void move_to(std::byte* memory, std::size_t bytes) noexcept;
  void open_chunk();
  void await_chunk() noexcept;
  void reset_capacity() noexcept;
  void swap_state(Writer& other) noexcept;

  bool swap_ = false;
  WideForm wide_form_ = WideForm::counted;
  CodeSets code_sets_;
  bool depends_on_code_set_ = false;
  std::size_t offset_ = 0;
  std::unique_ptr<std::byte[]> data_;
  std::size_t owned_ = 0;      // bytes of data_
  std::byte* base_ = nullptr;  // data_, or lent
  Room* room_ = nullptr;
  std::size_t size_ = 0;
  // Is size_ after a failure, where a chunk is due and behind tail_, so that claim() has one test.
  std::size_t capacity_ = 0;
  std::size_t allocated_ = 0;  // bytes at base_
  std::size_t limit_ = largest;
  std::size_t body_from_ = 0;  // before the padding of the body
  std::size_t body_at_ = 0;    // after it
  Chunk chunk_ = Chunk::none;
  int chunk_level_ = 0;
  std::size_t chunk_at_ = 0;  // where the size of the open chunk stands
  std::size_t ended_at_ = 0;  // behind the last end tag
  Bytes tail_;                // behind the bytes at base_: a block that lies elsewhere
  std::array<Bytes, 2> parts_;
  std::unique_ptr<WriterTable> table_;
  std::optional<Error> error_;
};

}  // namespace corelane::cdr
