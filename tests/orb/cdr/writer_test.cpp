#include "orb/cdr/writer.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/minor.h"

using namespace corelane;
using cdr::Writer;

namespace {

std::string hex(const Writer& writer) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : writer.bytes()) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

// Lends up to `size` bytes at a time.
struct LendingMemory final : cdr::MessageMemory {
  explicit LendingMemory(std::size_t most) : size(most) {}
  MutableBytes lend(std::size_t bytes) noexcept override {
    ++asked;
    if (bytes > size) return {};
    return memory[asked % 2] = std::vector<std::byte>(bytes), memory[asked % 2];
  }
  bool refers(std::size_t) noexcept override { return prefers_reference; }
  bool holds(Bytes bytes) const { return bytes.data() == memory[0].data() || bytes.data() == memory[1].data(); }
  std::size_t size;
  bool prefers_reference = false;
  unsigned asked = 0;
  std::vector<std::byte> memory[2];
};

}  // namespace

TEST_CASE("writer lays out integers in the order it was made with") {
  Writer big(ByteOrder::big);
  big.write(std::uint32_t{0x01020304});
  CHECK(hex(big) == "01020304");
  Writer little(ByteOrder::little);
  little.write(std::uint32_t{0x01020304});
  CHECK(hex(little) == "04030201");
}

TEST_CASE("writer aligns each value to its size with zeros") {
  Writer writer(ByteOrder::big);
  writer.write(std::uint8_t{1});
  writer.write(std::uint16_t{2});
  writer.write(std::uint8_t{3});
  writer.write(std::uint32_t{4});
  writer.write(std::uint8_t{5});
  writer.write(std::uint64_t{6});
  CHECK(hex(writer) ==
        "01000002"
        "03000000"
        "00000004"
        "05000000"
        "0000000000000006");
}

TEST_CASE("writer counts alignment from its origin and not from its first byte") {
  Writer writer(ByteOrder::big, 12);
  writer.write(std::uint64_t{1});
  CHECK(hex(writer) ==
        "00000000"
        "0000000000000001");
}

TEST_CASE("writer ends a string with the NUL that its length counts") {
  Writer writer(ByteOrder::big);
  writer.write_string("ab");
  writer.write_string("");
  CHECK(hex(writer) ==
        "00000003"
        "616200"
        "00"
        "00000001"
        "00");
}

TEST_CASE("writer writes floats as their IEEE bits") {
  Writer writer(ByteOrder::big);
  writer.write(1.0);
  writer.write(-2.0f);
  CHECK(hex(writer) ==
        "3ff0000000000000"
        "c0000000");
}

TEST_CASE("writer aligns the inside of an encapsulation from its byte order") {
  Writer writer(ByteOrder::big);
  const auto mark = writer.begin_encapsulation();
  writer.write(std::uint32_t{7});
  writer.end_encapsulation(mark);
  writer.write(std::uint64_t{1});
  CHECK(hex(writer) ==
        "00000008"
        "00000000"
        "00000007"
        "00000000"
        "0000000000000001");
}

TEST_CASE("writer nests encapsulations") {
  Writer writer(ByteOrder::big);
  const auto outer = writer.begin_encapsulation();
  const auto inner = writer.begin_encapsulation();
  writer.write(std::uint8_t{9});
  writer.end_encapsulation(inner);
  writer.end_encapsulation(outer);
  CHECK(hex(writer) ==
        "0000000a"
        "00"
        "000000"
        "00000002"
        "00"
        "09");
}

TEST_CASE("writer patches a ulong in its own order") {
  Writer writer(ByteOrder::little);
  writer.write(std::uint32_t{0});
  writer.patch(0, 0x01020304);
  CHECK(hex(writer) == "04030201");
  writer.patch(1, 5);
  CHECK(hex(writer) == "04030201");
}

TEST_CASE("writer takes the padding of an empty body back") {
  Writer writer(ByteOrder::big);
  writer.write(std::uint8_t{1});
  writer.begin_body();
  CHECK(writer.size() == 8);
  SECTION("empty") {
    writer.finish_body();
    CHECK(writer.size() == 1);
  }
  SECTION("not empty") {
    writer.write(std::uint8_t{2});
    writer.finish_body();
    CHECK(writer.size() == 9);
  }
}

TEST_CASE("a cleared writer keeps its memory and forgets its failure") {
  Writer writer;
  writer.write_string("text");
  const std::byte* memory = writer.bytes().data();
  writer.write_string(std::string_view("\0", 1));
  REQUIRE_FALSE(writer.ok());
  writer.clear();
  writer.write_string("more");
  CHECK(writer.ok());
  CHECK(writer.bytes().data() == memory);
}

TEST_CASE("a moved writer takes its bytes along and leaves an empty one") {
  Writer writer(ByteOrder::big);
  writer.write(std::uint16_t{0x0102});
  Writer other(std::move(writer));
  CHECK(hex(other) == "0102");
  writer = Writer(ByteOrder::big);
  CHECK(writer.size() == 0);
  writer = std::move(other);
  CHECK(hex(writer) == "0102");
}

// Edges.

TEST_CASE("writer grows past every first guess") {
  Writer writer(ByteOrder::big);
  for (std::uint32_t i = 0; i < 100'000; ++i) writer.write(i);
  REQUIRE(writer.size() == 400'000);
  CHECK(std::to_integer<int>(writer.bytes()[399'999]) == (99'999 & 255));
}

TEST_CASE("writer fills exactly its limit") {
  Writer writer;
  writer.set_limit(16);
  const std::size_t size = GENERATE(std::size_t{15}, std::size_t{16}, std::size_t{17});
  for (std::size_t i = 0; i < size; ++i) writer.write(std::uint8_t{1});
  CHECK(writer.ok() == (size <= 16));
  CHECK(writer.size() == std::min<std::size_t>(size, 16));
}

// Error paths.

TEST_CASE("writer refuses a string with a NUL in it") {
  Writer writer;
  writer.write_string(std::string_view("a\0b", 3));
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().kind == ErrorKind::bad_param);
  CHECK(writer.error().minor == minor::string_has_nul);
}

TEST_CASE("nothing is written after a failure and the first one stays") {
  Writer writer;
  writer.write(std::uint32_t{1});
  writer.write_string(std::string_view("\0", 1));
  const auto mark = writer.begin_encapsulation();
  writer.write(1.0);
  writer.end_encapsulation(mark);
  writer.fail(ErrorKind::internal, 1);
  CHECK(writer.size() == 4);
  CHECK(writer.error().minor == minor::string_has_nul);
}

TEST_CASE("padding that would cross the limit is a failure too") {
  Writer writer;
  writer.set_limit(6);
  writer.write(std::uint8_t{1});
  writer.write(std::uint32_t{1});
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error() == Error{ErrorKind::imp_limit, Completion::no, minor::message_too_large});
  CHECK(writer.size() == 1);
}

TEST_CASE("a long message goes into the memory that was given for it and a short one does not") {
  LendingMemory memory(1'000'000);
  const std::vector<std::byte> block(100'000, std::byte{7});
  Writer writer, plain;
  for (int message = 0; message < 2; ++message) {
    writer.clear(), plain.clear();
    writer.set_memory(&memory);
    writer.write(std::uint32_t{1}), plain.write(std::uint32_t{1});
    CHECK_FALSE(memory.holds(writer.bytes()));
    for (int i = 0; i < 3; ++i) writer.write_octets(block), plain.write_octets(block);
    CHECK(memory.holds(writer.bytes()));
    CHECK(writer.to_vector() == plain.to_vector());
  }
  writer.clear();
  CHECK_FALSE(memory.holds(writer.bytes()));
}

TEST_CASE("a message for which that memory is too small goes on in the writer's own memory") {
  LendingMemory memory(150'000);
  const std::vector<std::byte> block(100'000, std::byte{7});
  Writer writer, plain;
  for (int message = 0; message < 2; ++message) {
    writer.clear(), plain.clear();
    writer.set_memory(&memory);
    for (int i = 0; i < 3; ++i) writer.write_octets(block), plain.write_octets(block);
    CHECK(writer.ok());
    CHECK_FALSE(memory.holds(writer.bytes()));
    CHECK(writer.to_vector() == plain.to_vector());
  }
}

TEST_CASE("bytes up to the size from which it counts stay with the writer") {
  const std::size_t size = GENERATE(Writer::memory_from - 1, Writer::memory_from, Writer::memory_from + 1);
  LendingMemory memory(1'000'000);
  Writer writer;
  writer.set_memory(&memory);
  for (std::size_t i = 0; i < size; ++i) writer.write(std::uint8_t{1});
  CHECK(writer.size() == size);
  CHECK(memory.holds(writer.bytes()) == (size > Writer::memory_from));
}

TEST_CASE("a writer says how much memory it keeps, whatever it was cleared of") {
  Writer writer;
  CHECK(writer.kept_bytes() == 0);
  writer.write_string(std::string(100'000, 'x'));
  writer.clear();
  writer.write(std::uint8_t{1});
  CHECK(writer.size() == 1);
  CHECK(writer.kept_bytes() > 100'000);
  writer = Writer();
  CHECK(writer.kept_bytes() == 0);
}

namespace {

std::vector<std::byte> all_of(Writer& writer) {
  std::vector<std::byte> all;
  for (const Bytes part : writer.parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<std::byte> lasting(std::size_t size) {
  std::vector<std::byte> block(size);
  for (std::size_t i = 0; i < size; ++i) block[i] = static_cast<std::byte>(i * 7 + i / 251);
  return block;
}

void write_lasting(Writer& writer, const std::vector<std::byte>& block) {
  writer.write_length(block.size());
  writer.write_lasting(reinterpret_cast<const std::uint8_t*>(block.data()), block.size());
}

bool refers_to(Writer& writer, const std::vector<std::byte>& block) {
  return writer.parts().size() == 2 && writer.parts()[1].data() == block.data();
}

}  // namespace

TEST_CASE("a long lasting block at the end is a part of its own and a short one is copied") {
  const std::size_t size = GENERATE(std::size_t{0}, Writer::refers_from - 1, Writer::refers_from,
                                    Writer::refers_from + 1, std::size_t{1'000'000});
  const auto block = lasting(size);
  Writer writer, plain;
  for (int message = 0; message < 2; ++message) {
    writer.clear(), plain.clear();
    writer.write(std::uint8_t{1}), plain.write(std::uint8_t{1});
    write_lasting(writer, block), plain.write_octets(block);
    CHECK(refers_to(writer, block) == (size >= Writer::refers_from));
    CHECK(writer.size() == plain.size());
    CHECK(writer.offset() == plain.offset());
    CHECK(all_of(writer) == plain.to_vector());
  }
}

TEST_CASE("bytes that follow a lasting block copy it and stand where they would have stood") {
  const std::size_t size = Writer::refers_from + GENERATE(0u, 1u, 3u);
  const int what = GENERATE(0, 1, 2, 3, 4, 5);
  const auto block = lasting(size), second = lasting(size + 5);
  Writer writer, plain;
  const auto follow = [&](Writer& to) {
    if (what == 0) to.write(std::uint8_t{9});
    if (what == 1) to.write(std::uint64_t{9});
    if (what == 2) to.align(8);
    if (what == 3) to.write_string("end");
    if (what == 4) to.end_encapsulation(to.begin_encapsulation());
    if (what == 5) to.write_octets(second);
  };
  write_lasting(writer, block), plain.write_octets(block);
  follow(writer), follow(plain);
  CHECK(writer.parts().size() == 1);
  CHECK(writer.to_vector() == plain.to_vector());
  write_lasting(writer, second), plain.write_octets(second);
  CHECK(refers_to(writer, second));
  CHECK(all_of(writer) == plain.to_vector());
}

TEST_CASE("lasting numbers are aligned and are copied where they are swapped") {
  const std::vector<double> values(4096, 1.5);
  const auto order = GENERATE(ByteOrder::little, ByteOrder::big);
  Writer writer(order), plain(order);
  writer.write(std::uint8_t{1}), plain.write(std::uint8_t{1});
  writer.write_lasting(values.data(), values.size()), plain.write_block(values.data(), values.size());
  CHECK(writer.parts().size() == (order == native_order ? 2 : 1));
  CHECK(all_of(writer) == plain.to_vector());
}

TEST_CASE("a lasting block that was copied may change") {
  auto block = lasting(Writer::refers_from);
  Writer writer, plain;
  write_lasting(writer, block), plain.write_octets(block);
  writer.copy_lasting();
  block.assign(block.size(), std::byte{0});
  CHECK(writer.parts().size() == 1);
  CHECK(writer.to_vector() == plain.to_vector());
  writer.copy_lasting();  // nothing is left to copy
  CHECK(writer.to_vector() == plain.to_vector());
}

TEST_CASE("a lasting block counts for the limit") {
  const auto block = lasting(Writer::refers_from);
  const std::size_t room = GENERATE(Writer::refers_from + 3, Writer::refers_from + 4, Writer::refers_from + 5);
  Writer writer;
  writer.set_limit(room);
  write_lasting(writer, block);
  CHECK(writer.ok() == (room >= block.size() + 4));
  if (writer.ok()) return;
  CHECK(writer.error() == Error{ErrorKind::imp_limit, Completion::no, minor::message_too_large});
  CHECK(writer.parts().size() == 1);
}

TEST_CASE("a lasting block goes into lent memory where there is some and stays outside where there is none") {
  const std::size_t size =
      GENERATE(Writer::memory_from - 5, Writer::memory_from - 4, Writer::memory_from - 3, std::size_t{200'000});
  const bool has_room = GENERATE(false, true);
  const auto block = lasting(size);
  LendingMemory memory(has_room ? 1'000'000 : 0);
  Writer writer, plain;
  writer.set_memory(&memory);
  write_lasting(writer, block), plain.write_octets(block);
  const bool is_lent = has_room && size + 4 > Writer::memory_from;
  CHECK(refers_to(writer, block) == !is_lent);
  CHECK(memory.holds(writer.bytes()) == is_lent);
  CHECK(all_of(writer) == plain.to_vector());
}

TEST_CASE("memory that prefers a reference gets a lasting block only if what precedes it was moved there") {
  const std::size_t before = GENERATE(std::size_t{100}, Writer::memory_from + 1);
  const auto first = lasting(before), block = lasting(200'000);
  LendingMemory memory(1'000'000);
  memory.prefers_reference = true;
  Writer writer, plain;
  writer.set_memory(&memory);
  writer.write_octets(first), plain.write_octets(first);
  write_lasting(writer, block), plain.write_octets(block);
  const bool is_lent = before > Writer::memory_from;
  CHECK(refers_to(writer, block) == !is_lent);
  CHECK(memory.holds(writer.bytes()) == is_lent);
  CHECK(all_of(writer) == plain.to_vector());
}

TEST_CASE("a chunk holds a copy of a lasting block") {
  const auto block = lasting(Writer::refers_from);
  Writer writer, plain;
  writer.begin_chunks(), plain.begin_chunks();
  write_lasting(writer, block), plain.write_octets(block);
  writer.end_chunks(), plain.end_chunks();
  CHECK(writer.parts().size() == 1);
  CHECK(writer.to_vector() == plain.to_vector());
}

TEST_CASE("the rest of a message goes to another writer with its lasting block") {
  const auto block = lasting(Writer::refers_from);
  Writer writer, next, plain;
  writer.write(std::uint32_t{1}), next.write(std::uint32_t{2}), plain.write(std::uint32_t{2});
  const std::size_t position = writer.size();
  write_lasting(writer, block), plain.write_octets(block);
  next.write_rest_of(writer, position);
  CHECK(refers_to(next, block));
  CHECK(all_of(next) == plain.to_vector());
  Writer moved = std::move(next);
  CHECK(refers_to(moved, block));
  moved.clear();
  CHECK(moved.parts().size() == 1);
  CHECK(moved.size() == 0);
}
