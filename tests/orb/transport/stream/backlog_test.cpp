// Tests the backlog alone: it keeps bytes in order and within its bound, whatever the sizes of its chunks.
#include "orb/transport/stream/backlog.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/stream_harness.h"

using namespace corelane;
using namespace corelane::testing;
using transport::Backlog;

namespace {

void append(Backlog& backlog, std::string_view text) {
  const Bytes bytes = bytes_of(text);
  backlog.append(std::span<const Bytes>{&bytes, 1}, 0);
}

// Takes everything, in pieces of at most `step` bytes.
std::string drain(Backlog& backlog, std::size_t step) {
  std::string text;
  while (!backlog.empty()) {
    const Bytes part = backlog.front().first(std::min(step, backlog.front().size()));
    text += text_of(part);
    backlog.consume(part.size());
  }
  return text;
}

}  // namespace

TEST_CASE("a fresh backlog holds nothing") {
  Backlog backlog;
  CHECK(backlog.empty());
  CHECK(backlog.front().empty());
}

TEST_CASE("bytes leave a backlog in the order they came") {
  const std::size_t chunk = Backlog::chunk_size;
  const std::size_t size = GENERATE_COPY(values({std::size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk + 5}));
  const std::size_t step = GENERATE_COPY(values({std::size_t{1000}, chunk}));
  Backlog backlog;
  append(backlog, pattern(size));
  CHECK(backlog.size() == size);
  CHECK((drain(backlog, step) == pattern(size)));
}

TEST_CASE("appending and consuming may alternate for ever") {
  Backlog backlog;
  std::string in, out;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::string text = pattern(i * 37 % 5000, i);
    append(backlog, text);
    in += text;
    const Bytes piece = backlog.front().first(std::min<std::size_t>(backlog.front().size(), i * 53 % 6000));
    out += text_of(piece);
    backlog.consume(piece.size());
  }
  out += drain(backlog, 1000);
  CHECK((in == out));
}

TEST_CASE("bytes that were sent already are skipped over the parts") {
  const std::size_t skip = GENERATE(0u, 1u, 3u, 4u, 5u, 6u);
  const std::string_view whole = "abcdef";
  const Bytes parts[] = {bytes_of("abc"), bytes_of(""), bytes_of("d"), bytes_of("ef")};
  Backlog backlog;
  backlog.append(parts, skip);
  CHECK(drain(backlog, 100) == whole.substr(skip));
}

TEST_CASE("bytes that are prepended leave before all others") {
  const std::size_t chunk = Backlog::chunk_size;
  const std::size_t size = GENERATE_COPY(values({std::size_t{0}, std::size_t{1}, chunk, 2 * chunk + 7}));
  const std::size_t taken = GENERATE_COPY(values({std::size_t{0}, std::size_t{5}, chunk, chunk + 1}));
  const std::string first = pattern(chunk + 3, 1), later = pattern(size + taken, 2);
  Backlog backlog;
  append(backlog, later);
  for (std::size_t left = taken; left > 0;) {
    const std::size_t piece = std::min(left, backlog.front().size());
    backlog.consume(piece);
    left -= piece;
  }
  const Bytes parts[] = {bytes_of("ab"), bytes_of(first)};
  backlog.prepend(parts, 1);
  append(backlog, "end");
  CHECK(backlog.size() == 1 + first.size() + size + 3);
  CHECK((drain(backlog, chunk) == "b" + first + later.substr(taken) + "end"));
}

TEST_CASE("bytes that wait stay where they are when others are prepended") {
  const std::string first = pattern(GENERATE(std::size_t{7}, 3 * Backlog::chunk_size), 1);
  Backlog backlog;
  append(backlog, "later");
  const std::byte* const at = backlog.front().data();
  const Bytes part = bytes_of(first);
  backlog.prepend(std::span<const Bytes>{&part, 1}, 0);
  std::string got;
  while (got.size() < first.size()) {
    const std::size_t piece = std::min(first.size() - got.size(), backlog.front().size());
    got += text_of(backlog.front().first(piece));
    backlog.consume(piece);
  }
  CHECK((got == first));
  CHECK(backlog.front().data() == at);
}

TEST_CASE("a cleared backlog starts anew") {
  Backlog backlog;
  append(backlog, pattern(100'000));
  backlog.consume(10);
  backlog.clear();
  CHECK(backlog.empty());
  append(backlog, "new");
  CHECK(drain(backlog, 100) == "new");
}

TEST_CASE("an account holds what a backlog takes beyond its first chunk, and until it is sent") {
  const std::size_t chunk = Backlog::chunk_size;
  const auto budget =
      std::make_shared<transport::MemoryBudget>(transport::MemoryBudget::bounds_of(100 * chunk, chunk, Duration{1}));
  Backlog first(budget->open(1)), second(budget->open(1));
  append(first, pattern(2 * chunk + 1));
  append(second, pattern(chunk));
  CHECK(budget->used() == 2 * chunk);
  append(second, "x");
  CHECK(budget->used() == 3 * chunk);
  first.consume(chunk);
  CHECK(budget->used() == 2 * chunk);
  CHECK((drain(second, chunk) == pattern(chunk) + "x"));
  CHECK(budget->used() == chunk);
  first.clear();
  CHECK(budget->used() == 0);
}
