// Tests what only channels do among the streams. conformance_test.cpp tests what all streams do.
#include "orb/transport/channel/channel.h"

#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <span>
#include <thread>

#include "tests/orb/transport/kinds.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

bool has_news(const transport::Connection& end) {
  pollfd readable{.fd = end.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&readable, 1, 0) == 1;
}

constexpr uid_t somebody = 65534;
constexpr gid_t his_other_group = 30001;

template <std::size_t pool>
struct WithPool : SharedMemory {
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return made(reactor, limits, true, pool);
  }
};

transport::BorrowedBytes receive_borrowed(const ConnectionPtr& end) {
  std::array<std::byte, 64> buffer;
  transport::BorrowedBytes borrowed;
  REQUIRE(end->receive(buffer, patience(), {}, borrowed));
  REQUIRE(borrowed.storage);
  return borrowed;
}

// Starts a server that grants that access, and a child of another user that calls it. The child sends "ping" and
// expects "pong". Returns 'y' if the child got the answer, and 'n' if it got no channel.
char called_by_another_user(const channel::Access& access) {
  const TempDirectory directory;
  REQUIRE(chmod(directory.path().c_str(), 0755) == 0);
  const Endpoint endpoint = transport::channel_endpoint(directory / "door");
  os::Fd told, tell;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  told.reset(ends[0]), tell.reset(ends[1]);
  const pid_t child = corelane::testing::fork_alone();  // before this process has threads
  REQUIRE(child >= 0);
  if (child == 0) {
    char go = 0;
    const bool is_other = setgroups(1, &his_other_group) == 0 && setgid(somebody) == 0 && setuid(somebody) == 0;
    if (::read(told.get(), &go, 1) != 1 || !is_other) _exit('x');
    auto reactor = Reactor::start();
    transport::ChannelTransport transport(**reactor);
    const auto caller = transport.connect(endpoint, patience());
    if (!caller) _exit('n');
    _exit(send(*caller, "ping") && read(*caller, 4) == "pong" ? 'y' : '?');
  }
  auto reactor = Reactor::start();
  REQUIRE(reactor);
  transport::ChannelTransport transport(**reactor, {.access = access});
  struct Answering final : transport::Watcher {
    void on_bytes(Bytes, Time) noexcept override { (void)connection->send(bytes_of("pong")); }
    void on_closed(Error) noexcept override { closed.put(true); }
    ConnectionPtr connection;
    Mailbox<bool> closed;
  };
  const auto answering = std::make_shared<Answering>();
  const auto listener = transport.listen(endpoint, [&](ConnectionPtr connection) {
    CHECK(connection->credentials()->user == somebody);
    CHECK(connection->groups() == std::vector<gid_t>{somebody, his_other_group});
    answering->connection = connection;
    connection->watch(answering);
  });
  REQUIRE(listener);
  REQUIRE(::write(tell.get(), "g", 1) == 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const char said = WIFEXITED(status) ? static_cast<char>(WEXITSTATUS(status)) : 's';
  if (said == 'y') answering->closed.take();
  (*reactor)->stop();
  answering->connection.reset();
  return said;
}

}  // namespace

TEST_CASE("a client of another user gets a channel only if the server allows that user") {
  if (geteuid() != 0) {
    WARN("SKIPPED: only root can be another user");
    return;
  }
  const Quiet quiet;
  CHECK(called_by_another_user({.users = {somebody}}) == 'y');
  CHECK(called_by_another_user({.groups = {somebody}}) == 'y');
  CHECK(called_by_another_user({.groups = {1, his_other_group}}) == 'y');
  CHECK(called_by_another_user({.anyone = true}) == 'y');
  CHECK(called_by_another_user({.users = {somebody - 1}}) == 'n');
  CHECK(called_by_another_user({.users = {his_other_group}, .groups = {his_other_group + 1}}) == 'n');
  CHECK(called_by_another_user({}) == 'n');
}

TEST_CASE("a long message is sent from reserved memory and received where it lies") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(1024 * 1024);
  auto send_buffer = caller->send_buffer(text.size());
  REQUIRE(send_buffer);
  REQUIRE(send_buffer->bytes().size() >= text.size());
  std::memcpy(send_buffer->bytes().data(), text.data(), text.size());
  REQUIRE(caller->send(send_buffer->bytes().first(text.size())));
  send_buffer.reset();  // it was sent, so nothing goes back
  std::array<std::byte, 64> buffer;
  transport::BorrowedBytes borrowed;
  CHECK(*called->receive(buffer, patience(), {}, borrowed) == text.size());
  REQUIRE(borrowed.storage);
  CHECK(text_of(borrowed.bytes) == text);
  CHECK(caller->loans().sent == 1);
  CHECK(called->loans().received == 1);
  CHECK_FALSE(caller->send_buffer(text.size()));  // the only room for such a long message is taken
  borrowed = {};
  CHECK(caller->send_buffer(text.size()));
}

TEST_CASE("a long message of two parts may be read while it is sent, unless its reader sleeps") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const std::string head = pattern(100), tail = pattern(1024 * 1024 - 200, 2);
  const std::array<Bytes, 2> parts{std::as_bytes(std::span(head)), std::as_bytes(std::span(tail))};
  CHECK_FALSE(caller->sends_arriving(tail.size()));  // the descriptor of a new connection is armed
  std::array<std::byte, 64> buffer;
  transport::BorrowedBytes borrowed;
  called->take_arriving(true);
  CHECK_FALSE(called->poll_receive(buffer, borrowed));
  CHECK(caller->sends_arriving(tail.size()));
  CHECK_FALSE(caller->sends_arriving(100'000));
  CHECK_FALSE(caller->sends_arriving(3 * 1024 * 1024));
  REQUIRE(caller->send(parts));
  CHECK(caller->loans().sent == 1);
  REQUIRE(*called->receive(buffer, patience(), {}, borrowed) == head.size() + tail.size());
  CHECK(borrowed.arriving == nullptr);  // send() has returned, so all of it is there
  CHECK(text_of(borrowed.bytes) == head + tail);
}

TEST_CASE("a reader that takes arriving bytes reads a long message piece by piece while it is sent") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const std::string head = pattern(100), tail = pattern(1024 * 1024 - 200, 2);
  const std::array<Bytes, 2> parts{std::as_bytes(std::span(head)), std::as_bytes(std::span(tail))};
  called->take_arriving(true);
  std::atomic<bool> is_sent{false};
  for (int round = 0; round < 50; ++round) {
    const std::jthread sender([&, caller = caller] { is_sent = bool(caller->send(parts)); });
    std::array<std::byte, 64> buffer;
    transport::BorrowedBytes borrowed;
    REQUIRE(*called->receive(buffer, patience(), {os::WaitMode::spin}, borrowed) == head.size() + tail.size());
    std::size_t there = borrowed.arriving != nullptr ? borrowed.arriving->ready() : borrowed.bytes.size();
    while (there < borrowed.bytes.size()) {
      const auto more = borrowed.arriving->await(there + 1, patience());
      REQUIRE(more);
      there = *more;
    }
    REQUIRE(text_of(borrowed.bytes) == head + tail);
  }
  CHECK(is_sent);
}

TEST_CASE("a watcher is given a long message where it lies") {
  struct Keeping final : transport::Watcher {
    void on_bytes(Bytes, Time) noexcept override {}
    void on_borrowed(transport::BorrowedBytes borrowed, Time) noexcept override { came.put(std::move(borrowed)); }
    void on_closed(Error) noexcept override {}
    Mailbox<transport::BorrowedBytes> came;
  };
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const auto keeping = std::make_shared<Keeping>();
  called->watch(keeping);
  const std::string text = pattern(1024 * 1024);
  REQUIRE(send(caller, text));
  const transport::BorrowedBytes borrowed = keeping->came.take();
  CHECK(text_of(borrowed.bytes) == text);
  CHECK(borrowed.storage_of(borrowed.bytes.subspan(12)) == borrowed.storage);
  CHECK_FALSE(borrowed.storage_of(borrowed.bytes.first(100)));
  called->unwatch();
}

TEST_CASE("a long message that is taken or polled for stays where it lies, and short ones beside it are copied") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const bool takes = GENERATE(true, false);
  const std::string text = pattern(1024 * 1024);
  for (const std::string_view sent : {std::string_view("ab"), std::string_view("c"), std::string_view(text)})
    REQUIRE(send(caller, sent));
  std::array<std::byte, 64> buffer;
  const auto next = [&](transport::BorrowedBytes& borrowed) {
    return takes ? called->take(buffer, borrowed)->count : *called->poll_receive(buffer, borrowed);
  };
  transport::BorrowedBytes none, borrowed, more;
  REQUIRE(next(none) == 3);
  CHECK(text_of(Bytes(buffer).first(3)) == "abc");
  CHECK_FALSE(none.storage);
  REQUIRE(next(borrowed) == text.size());
  REQUIRE(borrowed.storage);
  REQUIRE(send(caller, "d"));
  REQUIRE(next(more) == 1);
  CHECK(text_of(Bytes(buffer).first(1)) == "d");
  CHECK_FALSE(more.storage);
  CHECK(text_of(borrowed.bytes) == text);
  CHECK(called->loans().received == 1);
}

TEST_CASE("reserved memory of a message that is not sent goes back") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  for (int i = 0; i < 3; ++i) CHECK(caller->send_buffer(1024 * 1024));
  CHECK(caller->loans().sent == 0);
}

TEST_CASE("a message longer than all room gets no reserved memory and comes in pieces") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(3 * 1024 * 1024);
  CHECK_FALSE(caller->send_buffer(text.size()));
  REQUIRE(send(caller, text));
  CHECK(read(called, text.size()) == text);
}

TEST_CASE("while room is away long messages come in pieces and in order") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  const std::string first = pattern(1024 * 1024), second = pattern(700'000, 2), third = pattern(100, 3);
  REQUIRE(send(caller, first));
  std::array<std::byte, 64> buffer;
  transport::BorrowedBytes borrowed;
  REQUIRE(*called->receive(buffer, patience(), {}, borrowed) == first.size());
  REQUIRE(send(caller, second));
  REQUIRE(send(caller, third));
  CHECK(read(called, second.size() + third.size()) == second + third);
  CHECK(text_of(borrowed.bytes) == first);
}

TEST_CASE("by default four long messages are on their way at once, and a fifth is copied") {
  StreamHarness<WithPool<transport::usual_channel_pool>> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(1024 * 1024);
  std::vector<transport::BorrowedBytes> kept;
  for (std::uint64_t sent = 1; sent <= 4; ++sent) {
    auto send_buffer = caller->send_buffer(text.size() + 100);
    REQUIRE(send_buffer);
    std::memcpy(send_buffer->bytes().data(), text.data(), text.size());
    REQUIRE(caller->send(send_buffer->bytes().first(text.size())));
    CHECK(caller->loans().sent == sent);
    kept.push_back(receive_borrowed(called));
  }
  CHECK_FALSE(caller->send_buffer(text.size()));
  REQUIRE(send(caller, text));
  CHECK(read(called, text.size()) == text);
  for (const transport::BorrowedBytes& borrowed : kept) CHECK(text_of(borrowed.bytes) == text);
}

TEST_CASE("without chunks messages of any length go through the ring") {
  StreamHarness<WithPool<0>> harness;
  const auto [caller, called] = harness.connect();
  for (const std::size_t size : {32'752u, 32'753u, 32'768u, 500'000u}) {
    const std::string text = pattern(size);
    REQUIRE(send(caller, text));
    CHECK(read(called, size) == text);
    CHECK(caller->loans().sent == 0);
  }
}

TEST_CASE("while the reader keeps all that was lent to it, messages of any length come all the same") {
  StreamHarness<WithPool<128 * 1024>> harness;
  const auto [caller, called] = harness.connect();
  const std::string all = pattern(128 * 1024), medium = pattern(10'000, 2), large = pattern(500'000, 3);
  REQUIRE(send(caller, all));
  const transport::BorrowedBytes kept = receive_borrowed(called);
  REQUIRE(send(caller, medium));
  REQUIRE(send(caller, large));
  CHECK(read(called, medium.size() + large.size()) == medium + large);
  CHECK(text_of(kept.bytes) == all);
}

TEST_CASE("a channel's descriptor reports nothing while its end is only polled") {
  StreamHarness<SharedMemory> harness;
  const auto [caller, called] = harness.connect();
  std::array<std::byte, 16> buffer;
  REQUIRE_FALSE(receive(called, Time{}));
  REQUIRE_FALSE(called->poll_receive(buffer));
  REQUIRE(send(caller, "x"));
  CHECK_FALSE(has_news(*called));
  CHECK(*called->poll_receive(buffer) == 1);
  REQUIRE_FALSE(receive(called, Time{}));
  REQUIRE(send(caller, "y"));
  CHECK(has_news(*called));
  CHECK(*receive(called, Time{}) == 1);
}
