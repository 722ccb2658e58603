// Tests long requests over a task's own channel. The task's thread demarshals them in place, where the client wrote
// them.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/channel/memory/memory.h"
#include "orb/core/client/reference.h"
#include "orb/core/client/task_binding.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "orb/transport/channel_options.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace own_channel_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mebi = 1024 * 1024;

// A servant that checks whether its client's only room for long messages is taken. A request that is read in place
// keeps that room while the servant runs.
class RoomWatcher final : public ProbeServant {
 public:
  using Seen = std::pair<std::size_t, bool>;  // length of the text; whether the room was taken
  void watch(transport::Connection& client) {
    const std::lock_guard lock(mutex_);
    client_ = &client;
  }
  std::string echo(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    seen_.emplace_back(text.size(), client_->send_buffer(mebi) == nullptr);
    return text;
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Seen> seen_;
  transport::Connection* client_ = nullptr;
};

// A task of echo() with its own channel.
struct OwnChannel {
  OwnChannel() {
    server.root()->the_POAManager()->activate();
    auto task_or = rt::admit(probe, {.operation = "echo", .contract = no_wait});
    REQUIRE(task_or);
    task.emplace(std::move(*task_or));
    const auto binding = probe->_reference()->binding_of("echo");
    REQUIRE(binding->connection() != binding->connection(true));
    own = binding->connection();
    servant->watch(own->stream());
  }
  std::vector<std::byte> request(std::uint32_t id, const std::string& text) {
    const auto content = giop::encode_contract({.task = task->id(), .job = JobId{id}, .contract = {}});
    const giop::ServiceContext contexts[] = {{giop::context::contract, content}};
    cdr::Writer writer;
    begin_request(writer, id, probe->_reference()->address()->object_key, "echo", giop::giop_1_2, native_order,
                  contexts);
    writer.write_string(text);
    REQUIRE(giop::finish(writer));
    return {writer.bytes().begin(), writer.bytes().end()};
  }

  // With these times no call is early. Admission is off.
  static constexpr Contract no_wait{.period = 1ns, .deadline = 5ns, .budget = 1ns, .jitter = 3ns};
  const TempDirectory directory{};
  TestOrb server{{"-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off", "-ORBEndpointListen",
                  "channel:" + directory / "c"}};
  TestOrb client{{"-ORBChannelPool", "1376256"}};
  CORBA::servant_reference<RoomWatcher> servant = CORBA::make_reference<RoomWatcher>();
  CORBA::object_reference<Probing::Probe> probe =
      probe_of(client, server->object_to_string(server.root()->servant_to_reference(servant)));
  std::optional<rt::Task> task;
  std::shared_ptr<core::ClientConnection> own;
};

// Counts the regions of at least that size that this process writes and that are resident from end to end.
std::size_t whole_regions(std::size_t size) {
  std::ifstream maps("/proc/self/smaps");
  std::map<unsigned long, std::size_t> there;  // by file
  unsigned long file = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, inode = 0;
    std::size_t kilobytes = 0;
    char access[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %lu", &begin, &end, access, &inode) == 4)
      file = access[1] == 'w' && line.find("memfd:corelane-channel") != line.npos ? inode : 0;
    else if (file != 0 && std::sscanf(line.c_str(), "Rss: %zu kB", &kilobytes) == 1)
      there[file] += kilobytes * 1024;
  }
  std::size_t count = 0;
  for (const auto& [inode, bytes] : there) count += bytes >= size ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE(
    "both channels of a task have all of their memory on the client's side once it is admitted, and soon on both") {
  if (!channel::can_grow()) return;
  constexpr std::size_t ring = 72 * 1024;
  OwnChannel test;
  const auto shared = test.probe->_reference()->binding_of("echo")->connection(true);
  CHECK(test.own->stream().channel_memory() == ring + 1'376'256);
  CHECK(shared->stream().channel_memory() == ring + 1'376'256);
  const Time latest = os::now() + 60s;
  const auto servers = [] { return whole_regions(ring + transport::usual_channel_pool); };
  while (servers() < 2 && os::now() < latest) std::this_thread::sleep_for(5ms);  // sleep: there is no event to wait for
  CHECK(servers() == 2);
}

TEST_CASE("a request of a mebibyte over a task's own channel is demarshalled where it lies") {
  OwnChannel test;
  const std::string text(mebi, 'x');
  for (std::uint64_t calls = 1; calls <= 3; ++calls) {
    CHECK(test.probe->echo("short") == "short");
    CHECK(test.probe->echo(text) == text);
    CHECK(test.own->stream().loans().sent == calls);
    CHECK(test.own->stream().loans().received == calls);
  }
  const RoomWatcher::Seen small{5, false}, large{mebi, true};
  CHECK(test.servant->seen() == std::vector{small, large, small, large, small, large});
}

// The last short request has been copied, and nothing else keeps the piece that was lent.
TEST_CASE("short requests in one piece with a long one are taken in order, and the piece goes back with the last") {
  OwnChannel test;
  std::vector<std::byte> piece;
  std::uint32_t id = 1'000'000;
  for (const std::size_t length : {std::size_t{10}, mebi, std::size_t{20}, std::size_t{30}}) {
    const auto request = test.request(++id, std::string(length, 'y'));
    piece.insert(piece.end(), request.begin(), request.end());
  }
  REQUIRE(test.own->stream().send(piece));
  CHECK(test.probe->echo("after") == "after");
  const std::vector<RoomWatcher::Seen> expected{{10, true}, {mebi, true}, {20, true}, {30, false}, {5, false}};
  CHECK(test.servant->seen() == expected);
}

}  // namespace own_channel_test
