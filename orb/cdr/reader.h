// Reader: decodes CDR in place. Every read is checked; nothing is sized by a number from the wire.
// CORBA 3.3 part 2, 9.3.
//
// Threads: one at a time; a copy is an independent cursor over the same bytes, which outlive it.
// Invariant: after the first failure nothing is left to read, every read answers false, and error() says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "orb/base/bytes.h"
#include "orb/base/error.h"
#include "orb/cdr/primitive.h"

namespace corelane::cdr {

// Whatever decoding needs beside bytes: orb/core derives its own to make object references.
struct Environment {
  virtual ~Environment() = default;
  // The same for a value that is decoded later, after this one may have gone. Null: there is none.
  virtual std::shared_ptr<Environment> share() { return nullptr; }
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
        offset_(offset),
        environment_(environment),
        swap_(order != native_order) {}
  // Over the content of an encapsulation: a byte order, then values aligned from it.
  static Reader of_encapsulation(Bytes bytes, Environment* environment = nullptr) noexcept;

  bool ok() const noexcept { return minor_ == 0; }
  std::uint32_t minor() const noexcept { return minor_; }
  // MARSHAL with the minor code of the first failure, COMPLETED_NO. Call only when !ok().
  Error error() const noexcept { return {ErrorKind::marshal, Completion::no, minor_}; }
  // Fails the reader on behalf of a decoder that found a bad value. Always false.
  bool fail(std::uint32_t minor) noexcept;

  ByteOrder order() const noexcept {
    return (native_order == ByteOrder::little) != swap_ ? ByteOrder::little : ByteOrder::big;
  }
  Environment* environment() const noexcept { return environment_; }
  void set_environment(Environment* environment) noexcept { environment_ = environment; }
  WideForm wide_form() const noexcept { return wide_form_; }
  void set_wide_form(WideForm form) noexcept { wide_form_ = form; }
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }
  std::size_t position() const noexcept { return static_cast<std::size_t>(cursor_ - begin_); }
  // The next byte's place counted from the origin of alignment.
  std::size_t offset() const noexcept { return position() + offset_; }
  Bytes rest() const noexcept { return {cursor_, remaining()}; }

  bool align(std::size_t alignment) noexcept { return take(0, alignment) != nullptr || ok(); }
  bool skip(std::size_t count) noexcept { return take(count, 1) != nullptr || ok(); }

  template <Primitive T>
  bool read(T& out) noexcept {
    const std::byte* at = take(sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    typename RawOf<sizeof(T)>::type raw;
    std::memcpy(&raw, at, sizeof raw);
    if constexpr (std::same_as<T, bool>) {
      return raw <= 1 ? (out = raw == 1, true) : bad_boolean();
    } else {
      out = from_raw<T>(raw, swap_);
      return true;
    }
  }

  // `count` values without a length before them into `out`, which has room for them.
  template <Primitive T>
  requires(!std::same_as<T, bool>) bool read_block(T* out, std::size_t count) noexcept {
    if (count == 0) return ok();
    if (count > remaining() / sizeof(T)) return truncated();
    const std::byte* at = take(count * sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    std::memcpy(out, at, count * sizeof(T));
    if (sizeof(T) > 1 && swap_) swap_block(out, count);
    return true;
  }

  // A sequence's count, checked against the bytes left; for elements of no size against max_empty_elements.
  bool read_length(std::uint32_t& count, std::size_t min_element_size) noexcept;
  // Text without its NUL, in place. Refused: length 0, no NUL at the end, NUL inside.
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

 private:
  // The next n bytes after alignment; null when they are not there.
  const std::byte* take(std::size_t n, std::size_t alignment) noexcept {
    const std::size_t pad = padding(offset(), alignment);
    const std::size_t left = remaining();
    if (n > left || pad > left - n) [[unlikely]] {
      truncated();
      return nullptr;
    }
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
  bool truncated() noexcept;
  bool bad_boolean() noexcept;
  bool enter() noexcept;

  const std::byte* begin_;
  const std::byte* cursor_;
  const std::byte* end_;
  std::size_t offset_;
  Environment* environment_;
  std::uint32_t minor_ = 0;
  int depth_ = 0;
  bool swap_;
  WideForm wide_form_ = WideForm::counted;
};

}  // namespace corelane::cdr
