// Reader: decodes CDR in place. Every read is checked; nothing is sized by a number from the wire.
// CORBA 3.3 part 2, 9.3.
//
// Threads: one at a time; a copy is an independent cursor over the same bytes, which outlive it.
// Invariant: after the first failure nothing is left to read, every read answers false, and error() says why.
//
// Values may travel in chunks (9.3.4.6). Inside one the reader goes over from chunk to chunk by itself, so that
// decoders see one row of data; what begins and ends values is orb/any's business (value_read.h), which uses the part
// "Chunks".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/copy.h"
#include "orb/base/error.h"
#include "orb/cdr/primitive.h"

namespace corelane::cdr {

// Whatever decoding needs beside bytes: orb/core derives its own to make object references.
struct Environment {
  virtual ~Environment() = default;
  // The same for a value that is decoded later, after this one may have gone. Null: there is none.
  virtual std::shared_ptr<Environment> share() { return nullptr; }
};

// What the decoders of one message share, beyond single values: made when first needed, kept by all copies of a reader
// that were made after that.
struct Shared {
  struct Table {
    virtual ~Table() = default;
  };
  std::deque<std::vector<std::byte>> pieces;  // of data that several chunks hold
  bool failed = false;                        // a reader of it has
  std::unique_ptr<Table> values;              // of orb/any
};

class Reader {
 public:
  static constexpr int max_depth = 64;                         // of nested values, over all nested encapsulations
  static constexpr std::uint32_t max_empty_elements = 65'536;  // elements that take no bytes in one sequence

  Reader() noexcept : Reader(Bytes{}) {}
  // `offset`: where the first byte stands, counted from the origin of alignment.
  explicit Reader(Bytes bytes, ByteOrder order = native_order, std::size_t offset = 0,
                  Environment* environment = nullptr) noexcept
      : begin_(bytes.data()),
        cursor_(begin_),
        end_(begin_ + bytes.size()),
        limit_(end_),
        offset_(offset),
        environment_(environment),
        swap_(order != native_order) {}
  // Over the content of an encapsulation: a byte order, then values aligned from it.
  static Reader of_encapsulation(Bytes bytes, Environment* environment = nullptr) noexcept;

  bool ok() const noexcept { return minor_ == 0; }
  std::uint32_t minor() const noexcept { return minor_; }
  // The first failure, COMPLETED_NO. Call only when !ok().
  Error error() const noexcept { return {kind_, Completion::no, minor_}; }
  // Fails the reader on behalf of a decoder that found a bad value: MARSHAL, or NO_MEMORY for out_of_memory. Always
  // false.
  bool fail(std::uint32_t minor) noexcept;
  bool fail(ErrorKind kind, std::uint32_t minor) noexcept;
  // For the reason for which `other` has failed.
  bool fail(const Reader& other) noexcept { return fail(other.kind_, other.minor_); }

  ByteOrder order() const noexcept {
    return (native_order == ByteOrder::little) != swap_ ? ByteOrder::little : ByteOrder::big;
  }
  Environment* environment() const noexcept { return environment_; }
  void set_environment(Environment* environment) noexcept { environment_ = environment; }
  WideForm wide_form() const noexcept { return wide_form_; }
  void set_wide_form(WideForm form) noexcept { wide_form_ = form; }
  const CodeSets& code_sets() const noexcept { return code_sets_; }
  void set_code_sets(const CodeSets& sets) noexcept { code_sets_ = sets; }
  // Of the chunk, inside a chunked value; of the message elsewhere.
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }
  // Up to the end of the message, everywhere.
  std::size_t available() const noexcept { return static_cast<std::size_t>(limit_ - cursor_); }
  std::size_t position() const noexcept { return static_cast<std::size_t>(cursor_ - begin_); }
  // The next byte's place counted from the origin of alignment.
  std::size_t offset() const noexcept { return position() + offset_; }
  Bytes rest() const noexcept { return {cursor_, remaining()}; }

  bool align(std::size_t alignment) noexcept {
    if (chunk_level_ != 0 && cursor_ == end_ && !next_chunk()) return false;
    return take(0, alignment) != nullptr || ok();
  }
  bool skip(std::size_t count) noexcept { return take(count, 1) != nullptr || ok(); }

  template <Primitive T>
  bool read(T& out) noexcept {
    const std::byte* at = take(sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    typename RawOf<sizeof(T)>::type raw;
    std::memcpy(&raw, at, sizeof raw);
    // The bytes may lie in memory that another process writes. This keeps the compiler from reading them once more
    // after they were checked.
    asm("" : "+r"(raw));
    if constexpr (std::same_as<T, bool>) {
      out = raw != 0;  // 1 by the standard; some ORBs send what was in memory
    } else {
      out = from_raw<T>(raw, swap_);
    }
    return true;
  }

  // `count` values without a length before them into `out`, which has room for them.
  template <Primitive T>
  requires(!std::same_as<T, bool>) bool read_block(T* out, std::size_t count) noexcept {
    if (count == 0) return ok();
    if (count > available() / sizeof(T)) return truncated();
    const std::byte* at = take(count * sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    copy_bytes(out, at, count * sizeof(T));
    if (sizeof(T) > 1 && swap_) swap_block(out, count);
    return true;
  }

  // A sequence's count, checked against the bytes left; for elements of no size against max_empty_elements.
  bool read_length(std::uint32_t& count, std::size_t min_element_size) noexcept;
  // Text without its NUL, in place and as it came; decode() converts it (text.h). Length 0 is the empty string:
  // some ORBs leave its NUL out. Refused: no NUL at the end, NUL inside.
  bool read_string(std::string_view& out) noexcept;
  // `count` bytes in place.
  bool read_bytes(Bytes& out, std::size_t count) noexcept;
  // sequence<octet> in place.
  bool read_octets(Bytes& out) noexcept;
  // sequence<octet> that holds an encapsulation: a reader of its content, one level deeper, with this environment.
  // Failed when it is malformed, and then so is this reader. A later failure stays with the returned reader.
  Reader read_encapsulation() noexcept;

  // One level of nesting, as long as it lives; false when that is one too deep.
  class Level {
   public:
    explicit Level(Reader& reader) noexcept : reader_(reader), entered_(reader.enter()) {}
    ~Level() {
      if (entered_) --reader_.depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    explicit operator bool() const noexcept { return entered_; }

   private:
    Reader& reader_;
    bool entered_;
  };

  // What is read while it lives is the program's from keep() on. Without that the reader has failed at its end, so that
  // whoever made something of the message takes it apart again: also where decoding ended by an exception.
  class Attempt {
   public:
    explicit Attempt(Reader& reader) noexcept : reader_(reader) {}
    ~Attempt() {
      if (!kept_) reader_.abandon();
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    // Always true.
    bool keep() noexcept { return kept_ = true; }

   private:
    Reader& reader_;
    bool kept_ = false;
  };

  // Chunks. What stands between them is read with the header_ functions, the data inside as anywhere.

  static constexpr std::uint32_t least_value_tag = 0x7fff'ff00;  // a positive number below it is the size of a chunk

  // Levels of chunked values around the next byte; 0: none.
  int chunk_level() const noexcept { return chunk_level_; }
  // All data of the open chunk are read. Some peers fill it up to the alignment of the tag that follows.
  bool at_chunk_end() const noexcept {
    return chunk_level_ != 0 && remaining() <= padding(offset(), sizeof(std::uint32_t));
  }
  // An end tag that was read ended this level too.
  bool level_ended() const noexcept { return ended_level_ != 0; }
  // Leaves the open chunk, whatever is left of it, for what stands behind it.
  void leave_chunk() noexcept;
  // Data again: in a chunk of `size` bytes, or in none until the next byte is wanted.
  bool open_chunk(std::size_t size) noexcept;
  void await_chunk() noexcept;
  // One level deeper, behind a header.
  void enter_chunks() noexcept { ++chunk_level_, await_chunk(); }
  // An end tag (negative) ends this level, and perhaps others around it. Refuses one that ends an inner level.
  bool end_level(std::int32_t tag) noexcept;
  // The same where level_ended().
  void end_level_again() noexcept;

  // Another cursor over the same bytes, at the value whose tag stands at `tag` and that `level` levels enclose.
  Reader at_value(const std::byte* tag, int level) const noexcept;

  const std::shared_ptr<Shared>& shared();
  void share(const Reader& copy) noexcept { shared_ = copy.shared_; }

 private:
  // The next n bytes after alignment; null when they are not there.
  const std::byte* take(std::size_t n, std::size_t alignment) noexcept {
    const std::size_t pad = padding(offset(), alignment);
    const std::size_t left = remaining();
    if (n > left || pad > left - n) [[unlikely]]
      return take_slowly(n, alignment);
    const std::byte* at = cursor_ + pad;
    cursor_ = at + n;
    return at;
  }
  template <Primitive T>
  static void swap_block(T* values, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {  // bound: count, read already
      typename RawOf<sizeof(T)>::type raw;
      std::memcpy(&raw, values + i, sizeof raw);
      values[i] = from_raw<T>(raw, true);
    }
  }
  const std::byte* take_slowly(std::size_t n, std::size_t alignment) noexcept;
  const std::byte* gather(std::size_t n);
  bool next_chunk() noexcept;
  bool truncated() noexcept;
  void abandon() noexcept;
  bool enter() noexcept;

  const std::byte* begin_;
  const std::byte* cursor_;
  const std::byte* end_;    // of the chunk, or of the message
  const std::byte* limit_;  // of the message
  std::size_t offset_;
  Environment* environment_;
  std::uint32_t minor_ = 0;
  ErrorKind kind_ = ErrorKind::marshal;  // of the failure
  int depth_ = 0;
  int chunk_level_ = 0;
  int ended_level_ = 0;  // the outermost level that an end tag has ended, while inner ones are left; 0: none
  bool swap_;
  WideForm wide_form_ = WideForm::counted;
  CodeSets code_sets_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace corelane::cdr
