// Tests the parts of a ServerConnection that need neither a server nor a stream.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "orb/core/requests/connection_binding.h"
#include "orb/core/requests/message_deadline.h"
#include "orb/core/requests/message_memory.h"
#include "orb/core/requests/task_use.h"

namespace server_connection_parts_test {

using namespace corelane;
using namespace corelane::core;
using namespace std::chrono_literals;

namespace {

constexpr Time begin{1h};

// Shared memory of so many bytes.
transport::BorrowedBytes shared_memory(std::size_t bytes) {
  const auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  return {.bytes = *memory, .storage = memory};
}

}  // namespace

TEST_CASE("an incomplete message gets a deadline, which stays while it grows") {
  MessageDeadline deadline(10s);
  CHECK(deadline.update(false, begin) == std::nullopt);
  CHECK(deadline.update(true, begin) == begin + 10s);
  CHECK(deadline.update(true, begin + 1s) == std::nullopt);
  CHECK(deadline.renewed(begin + 2s) == begin + 12s);
  SECTION("a message that is complete has none") {
    deadline.note_completed();
    CHECK(deadline.completed());
    CHECK(deadline.update(false, begin + 3s) == never);
    CHECK_FALSE(deadline.completed());
    CHECK(deadline.renewed(begin + 3s) == never);
  }
  SECTION("the next incomplete message gets a new one") {
    deadline.note_completed();
    CHECK(deadline.update(true, begin + 3s) == begin + 13s);
  }
  SECTION("after reset() so does the same one") {
    deadline.reset();
    CHECK(deadline.update(true, begin + 3s) == begin + 13s);
  }
}

TEST_CASE("without patience, incomplete messages have no deadline") {
  MessageDeadline deadline(Duration::zero());
  CHECK(deadline.update(true, begin) == never);
  CHECK(deadline.renewed(begin) == never);
}

TEST_CASE("a connection is plain again after enough messages without a contract") {
  TaskUse use;
  for (int i = 0; i < TaskUse::messages_until_plain; ++i) {
    CHECK_FALSE(use.is_plain());
    use.begin_message();
    use.end_message();
  }
  CHECK(use.is_plain());
  CHECK_FALSE(use.is_used());
  use.begin_message();
  use.set_foreseen(true);
  use.end_message();
  CHECK(use.is_used());
  CHECK_FALSE(use.is_plain());
  use.forget_use();
  CHECK_FALSE(use.is_used());
}

TEST_CASE("a long message in shared memory keeps it, and the last one takes it over") {
  constexpr std::size_t length = transport::BorrowedBytes::worth_keeping;
  MessageMemory memory;
  memory.borrow(shared_memory(2 * length));
  const Bytes all = memory.piece().bytes;
  std::array<std::byte, 4> elsewhere{};
  CHECK(memory.is_shared(all.first(length)));
  CHECK_FALSE(memory.is_shared(elsewhere));
  CHECK(memory.share(elsewhere).storage == nullptr);
  const transport::BorrowedBytes first = memory.share(all.first(length));
  CHECK(first.storage != nullptr);
  CHECK(first.bytes.data() == all.data());
  CHECK(first.bytes.size() == length);
  CHECK(first.arriving == nullptr);
  CHECK(memory.is_shared());
  CHECK(memory.share(all.last(length)).storage != nullptr);
  CHECK_FALSE(memory.is_shared());
}

TEST_CASE("bytes are kept by the reading thread only if it said so") {
  MessageMemory memory;
  std::array<std::byte, 8> bytes{};
  CHECK_FALSE(memory.is_kept(bytes));
  memory.set_kept(bytes);
  CHECK(memory.is_kept(Bytes(bytes).first(4)));
  memory.set_kept({});
  CHECK_FALSE(memory.is_kept(bytes));
}

TEST_CASE("a bound connection is read by its task until others read it") {
  ConnectionBinding binding;
  CHECK_FALSE(binding.is_bound());
  binding.bind(TaskId{5}, nullptr, ReplyTo{});
  CHECK(binding.is_bound());
  CHECK(binding.reading_task() == no_task);
  REQUIRE(binding.take_request());
  CHECK_FALSE(binding.take_request());
  binding.read_by_task();
  CHECK(binding.reading_task() == TaskId{5});
  binding.read_by_others();
  CHECK(binding.reading_task() == no_task);
}

}  // namespace server_connection_parts_test
