// Reader decodes CDR in place. It checks every read, and sizes nothing by an unchecked number from the wire. CORBA 3.3
// part 2, 9.3.
//
// Threads: one at a time. A copy is an independent cursor over the same bytes, which must outlive it.
// Invariant: after the first failure nothing is left to read, every read returns false, and error() says why.
//
// Values may be encoded in chunks (9.3.4.6). Inside such a value the reader moves from chunk to chunk by itself, so
// decoders see contiguous data. orb/any (value_read.h) handles the beginning and end of values, with the part "Chunks"
// of this class.
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
#include "orb/base/expected.h"
#include "orb/cdr/primitive.h"

namespace corelane::cdr {

// What decoding needs besides bytes. orb/core derives a class from it to make object references.
struct Environment {
  virtual ~Environment() = default;
  // Returns an environment for a value that is decoded later, when this environment may be gone. Null: there is none.
  virtual std::shared_ptr<Environment> share() { return nullptr; }
};

// Arrival brings the bytes of a message that is decoded while its sender still copies it.
struct Arrival {
  // Waits until at least the bytes before `end` are there. Returns the end of those that are.
  virtual Expected<const std::byte*> await(const std::byte* end) noexcept = 0;

 protected:
  ~Arrival() = default;
};

// State that the decoders of one message share, beyond single values. It is made when first needed, and all later
// copies of a reader keep it.
struct Shared {
  struct Table {
    virtual ~Table() = default;
  };
  std::deque<std::vector<std::byte>> pieces;  // copies of data that span several chunks
  bool failed = false;                        // a reader of the message has failed
  std::unique_ptr<Table> values;              // used by orb/any
  Arrival* arrival = nullptr;                 // of the rest of the message; null: it came whole
};

class Reader {
 public:
  static constexpr int max_depth = 64;  // nesting depth of values, across all encapsulations
  static constexpr std::uint32_t max_empty_elements =
      65'536;  // elements that take no bytes, of all sequences that one reader reads

  Reader() noexcept : Reader(Bytes{}) {}
  // `offset`: the position of the first byte, counted from the origin of alignment.
  explicit Reader(Bytes bytes, ByteOrder order = native_order, std::size_t offset = 0,
                  Environment* environment = nullptr) noexcept
      : begin_(bytes.data()),
        cursor_(begin_),
        end_(begin_ + bytes.size()),
        limit_(end_),
        offset_(offset),
        environment_(environment),
        swap_(order != native_order) {}
  // Returns a reader of an encapsulation: a byte order, then values aligned from it.
  static Reader of_encapsulation(Bytes bytes, Environment* environment = nullptr) noexcept;

  // From now on the reader waits for bytes that are not there yet: only the first `there` bytes are. `arrival` outlives
  // this reader and its copies. Call it before anything is read. If the bytes do not come, the reader fails with the
  // error of `arrival`. Raises std::bad_alloc.
  void expect(Arrival& arrival, std::size_t there);
  // Waits until the whole message is there. Returns false if its rest does not come.
  bool complete() noexcept { return !is_arriving() || await(limit_); }
  // Returns whether bytes of the message are still to come, as far as the reader knows.
  bool is_arriving() const noexcept { return end_ != limit_ && chunk_level_ == 0; }
  // Reads some of the next `most` bytes in place: those that are there already, or come first.
  bool read_arriving(Bytes& out, std::size_t most) noexcept;

  bool ok() const noexcept { return minor_ == 0; }
  std::uint32_t minor() const noexcept { return minor_; }
  // Returns the first failure, COMPLETED_NO. Call it only if !ok().
  Error error() const noexcept { return {kind_, Completion::no, minor_}; }
  // Marks the reader failed because a decoder found a bad value: MARSHAL, or NO_MEMORY for out_of_memory. Always
  // returns false.
  [[gnu::noinline]] bool fail(std::uint32_t minor) noexcept;
  [[gnu::noinline]] bool fail(ErrorKind kind, std::uint32_t minor) noexcept;
  // Fails with the error of `other`.
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
  // Returns the bytes left in the chunk inside a chunked value, in the message elsewhere. Without those that are still
  // to come.
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }
  // Returns the bytes left in the message, also inside a chunk.
  std::size_t available() const noexcept { return static_cast<std::size_t>(limit_ - cursor_); }
  std::size_t position() const noexcept { return static_cast<std::size_t>(cursor_ - begin_); }
  // Returns the next byte's position, counted from the origin of alignment.
  std::size_t offset() const noexcept { return position() + offset_; }
  Bytes rest() const noexcept { return {cursor_, remaining()}; }

  bool align(std::size_t alignment) noexcept {
    if (chunk_level_ != 0 && cursor_ == end_ && !next_chunk()) return false;
    return take(0, alignment) != nullptr || ok();
  }
  bool skip(std::size_t count) noexcept { return take(count, 1) != nullptr || ok(); }

  template <Primitive T>
  [[gnu::hot]] bool read(T& out) noexcept {
    const std::byte* at = take(sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    typename RawOf<sizeof(T)>::type raw;
    std::memcpy(&raw, at, sizeof raw);
    // Another process may write the memory in which the bytes lie. This keeps the compiler from reading them again
    // after they were checked.
    asm("" : "+r"(raw));
    if constexpr (std::same_as<T, bool>) {
      out = raw != 0;  // the standard says 1; some ORBs send other values
    } else {
      out = from_raw<T>(raw, swap_);
    }
    return true;
  }

  // Reads `count` values without a length before them into `out`, which has room for them.
  template <Primitive T>
  requires(!std::same_as<T, bool>) bool read_block(T* out, std::size_t count) noexcept {
    if (count == 0) return ok();
    if (count > available() / sizeof(T)) return truncated();
    if (is_arriving()) [[unlikely]]
      return read_block_arriving(out, count * sizeof(T), sizeof(T)) && (swap_ ? swap_block(out, count) : void(), true);
    const std::byte* at = take(count * sizeof(T), sizeof(T));
    if (at == nullptr) return false;
    copy_bytes(out, at, count * sizeof(T));
    if (sizeof(T) > 1 && swap_) swap_block(out, count);
    return true;
  }

  // Reads a sequence's count. Checks it against the bytes left. Elements without bytes are counted over all sequences
  // that this reader reads, up to max_empty_elements, since they take memory here.
  bool read_length(std::uint32_t& count, std::size_t min_element_size) noexcept {
    std::uint32_t n = 0;
    if (!read(n)) return false;
    if (min_element_size == 0 ? !count_empty(n) : n > available() / min_element_size) [[unlikely]]
      return length_refused(min_element_size);
    count = n;
    return true;
  }
  // Reads text in place, unconverted and without its NUL; decode() converts it (text.h). Length 0 is the empty string,
  // because some ORBs omit its NUL. Refused: no NUL at the end, or a NUL inside.
  bool read_string(std::string_view& out) noexcept;
  // Reads `count` bytes in place.
  bool read_bytes(Bytes& out, std::size_t count) noexcept {
    const std::byte* at = take(count, 1);
    if (at == nullptr) return false;
    out = {at, count};
    return true;
  }
  // Reads a sequence<octet> in place.
  [[gnu::hot, gnu::flatten]] bool read_octets(Bytes& out) noexcept {
    std::uint32_t count = 0;
    return read_length(count, 1) && read_bytes(out, count);
  }
  // Reads a sequence<octet> that holds an encapsulation. Returns a reader of its content, one level deeper, with this
  // environment. If the encapsulation is malformed, both readers fail. A later failure stays with the returned reader.
  Reader read_encapsulation() noexcept;

  // One level of nesting, for as long as it lives. Converts to false if that exceeds max_depth.
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

  // Attempt guards a decoding. After keep(), the program owns what was read. Without keep(), the destructor makes the
  // reader fail, also after an exception. Then a caller that has made objects from the message discards them.
  class Attempt {
   public:
    explicit Attempt(Reader& reader) noexcept : reader_(reader) {}
    ~Attempt() {
      if (!kept_) reader_.abandon();
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    // Always returns true.
    bool keep() noexcept { return kept_ = true; }

   private:
    Reader& reader_;
    bool kept_ = false;
  };

  // Chunks. The functions of orb/any read what lies between chunks; the data inside are read as usual.

  static constexpr std::uint32_t least_value_tag = 0x7fff'ff00;  // a positive number below it is a chunk's size

  // Returns the number of chunked values around the next byte; 0: none.
  int chunk_level() const noexcept { return chunk_level_; }
  // Returns whether all data of the open chunk are read. Some peers pad it up to the alignment of the tag that follows.
  bool at_chunk_end() const noexcept {
    return chunk_level_ != 0 && remaining() <= padding(offset(), sizeof(std::uint32_t));
  }
  // Returns whether an end tag that was already read also ended this level.
  bool level_ended() const noexcept { return ended_level_ != 0; }
  // Leaves the open chunk, skipping what is left of it, to read what follows it.
  void leave_chunk() noexcept;
  // Continue with data: open_chunk() in a chunk of `size` bytes, await_chunk() in a chunk that opens when the next byte
  // is read.
  bool open_chunk(std::size_t size) noexcept;
  void await_chunk() noexcept;
  // Enters a chunked value, after its header.
  void enter_chunks() noexcept { ++chunk_level_, await_chunk(); }
  // Handles an end tag (negative): it ends this level, and perhaps levels around it. Refuses a tag that would end an
  // inner level.
  bool end_level(std::int32_t tag) noexcept;
  // Ends this level, too, if level_ended().
  void end_level_again() noexcept;

  // Returns another cursor over the same bytes, at the value whose tag is at `tag` and that `level` levels enclose.
  Reader at_value(const std::byte* tag, int level) const noexcept;

  const std::shared_ptr<Shared>& shared();
  void share(const Reader& copy) noexcept { shared_ = copy.shared_; }

 private:
  // Returns the next n bytes after alignment; null if they are not there.
  [[gnu::hot]] const std::byte* take(std::size_t n, std::size_t alignment) noexcept {
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
    for (std::size_t i = 0; i < count; ++i) {  // bound: count, which is already read
      typename RawOf<sizeof(T)>::type raw;
      std::memcpy(&raw, values + i, sizeof raw);
      values[i] = from_raw<T>(raw, true);
    }
  }
  bool read_block_arriving(void* out, std::size_t size, std::size_t alignment) noexcept;
  bool await(const std::byte* end) noexcept;
  [[gnu::noinline]] const std::byte* take_slowly(std::size_t n, std::size_t alignment) noexcept;
  const std::byte* gather(std::size_t n);
  bool next_chunk() noexcept;
  bool truncated() noexcept;
  // Counts elements that take no bytes. Returns false if they are too many.
  bool count_empty(std::uint32_t count) noexcept { return (empty_ += count) <= max_empty_elements; }
  [[gnu::noinline]] bool length_refused(std::size_t min_element_size) noexcept;
  void abandon() noexcept;
  bool enter() noexcept;

  const std::byte* begin_;
  const std::byte* cursor_;
  const std::byte* end_;    // end of the chunk, or of what is there of the message
  const std::byte* limit_;  // end of the message
  std::size_t offset_;
  Environment* environment_;
  std::uint32_t minor_ = 0;
  ErrorKind kind_ = ErrorKind::marshal;  // the kind of the failure
  int depth_ = 0;
  int chunk_level_ = 0;
  int ended_level_ = 0;      // outermost level that an end tag has ended, while inner ones are open; 0: none
  std::uint64_t empty_ = 0;  // elements that took no bytes
  bool swap_;
  WideForm wide_form_ = WideForm::counted;
  CodeSets code_sets_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace corelane::cdr
