// Tests that a server keeps nothing of clients that came, were called back and left. CORELANE_PEERS=10000 makes a long
// run.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/rt/rt.h"
#include "tests/support/await.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace peers_soak_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

using ProbeReference = CORBA::object_reference<Probing::Probe>;

std::size_t entries_of(const char* directory) {
  const std::filesystem::directory_iterator begin(directory);
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

// Returns the number in the last line of malloc_info() that begins with `begin`. The last such line is the sum of all
// arenas.
std::size_t last_number(const std::string& text, const std::string& begin) {
  const std::size_t at = text.rfind(begin), number = text.find("size=\"", at);
  return at == text.npos || number == text.npos ? 0 : std::stoul(text.substr(number + 6));
}

// Returns the bytes of the heap that are in use, in all arenas.
std::size_t heap_in_use() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  malloc_info(0, out);
  std::fclose(out);
  const std::string all(text, size);
  std::free(text);
  return last_number(all, "<system type=\"current\"") + last_number(all, "<total type=\"mmap\"") -
         last_number(all, "<total type=\"fast\"") - last_number(all, "<total type=\"rest\"");
}

// What this process holds after it has given free memory back.
struct Held {
  std::size_t descriptors = 0, threads = 0;
  std::size_t mappings = 0;  // of all kinds
  std::size_t channels = 0;  // mappings of channels
  std::size_t resident = 0;  // bytes
  std::size_t heap = 0;      // bytes in use

  Held() {
    await_given_back();
    descriptors = entries_of("/proc/self/fd");
    threads = entries_of("/proc/self/task");
    heap = heap_in_use();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      ++mappings;
      channels += line.find("corelane-channel") != std::string::npos;
    }
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0;
    statm >> size >> resident;
    resident *= static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  // Allows a few more threads and descriptors. Threads that serve, and threads that wait for tasks, start and end by
  // need, and the threads of tasks have descriptors.
  bool is_within(const Held& other) const {
    constexpr std::size_t some = 16;
    return channels <= other.channels && descriptors <= other.descriptors + some && threads <= other.threads + some;
  }
  std::string text() const {
    std::ostringstream out;
    out << descriptors << " descriptors, " << threads << " threads, " << mappings << " mappings, "
        << static_cast<double>(resident) / 1e6 << " MB resident, " << static_cast<double>(heap) / 1e6
        << " MB of the heap in use";
    return out.str();
  }
};

// A servant that calls its caller back: within the call, by a oneway, and by an asynchronous call.
class Calling : public ProbeServant {
 public:
  ProbeReference pass(ProbeReference other) override {
    static constexpr core::Operation add{.name = "add"};
    if (other->add(1, 2) != 3) throw CORBA::INTERNAL();
    other->note("from the server");
    std::promise<bool> ended;
    core::AsyncInvocation call(*other, add);
    call.marshal(std::int32_t{3}, std::int32_t{4});
    call.send([&](core::AsyncReply& reply) {
      std::int32_t sum = 0;
      ended.set_value(reply.unmarshal(sum) && sum == 7);
    });
    if (!ended.get_future().get()) throw CORBA::INTERNAL();
    return other;
  }
};

struct Server {
  explicit Server(const std::string& place) : orb({"-ORBEndpointListen", place}) {
    orb.root()->the_POAManager()->activate();
    ior = orb->object_to_string(orb.root()->servant_to_reference(servant));
  }
  TestOrb orb;
  CORBA::servant_reference<Calling> servant = CORBA::make_reference<Calling>();
  std::string ior;
};

// Runs one client from start to end. Its ORB is in this process, which tests the same as another process: ORBs of a
// process share only its threads.
void come_and_go(const Server& server, const std::string& place, bool has_task) {
  ProbeServer peer({"-ORBEndpointListen", place});
  const ProbeReference remote = probe_of(peer.orb, server.ior);
  std::optional<rt::Task> task;
  if (has_task) {
    auto admitted = rt::admit(remote, {.operation = "pass", .contract = make_contract(100ms, 1ms)});
    if (admitted) task.emplace(std::move(*admitted));
  }
  CHECK(remote->pass(peer.reference));
  remote->note("farewell");
}

void wait_until_within(const Held& before) {
  std::this_thread::sleep_for(200ms);  // sleep: as long as threads of asynchronous calls wait for the next one
  std::chrono::milliseconds pause = 1ms;
  await("the process holds no more than before: " + before.text(), [&] {
    std::this_thread::sleep_for(pause);  // sleep: there is no event to wait for
    pause = std::min<std::chrono::milliseconds>(2 * pause, 50ms);
    return Held().is_within(before);
  });
}

}  // namespace

TEST_CASE("a server holds nothing of peers that came, were called back and went") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const bool has_task = GENERATE(false, true);
  const auto peers = static_cast<int>(from_environment("CORELANE_PEERS", 40));
  const auto place = [&](const std::string& name) { return kind.ends_with(':') ? kind + directory / name : kind; };
  const Server server(place("server"));
  const int first = std::max(20, peers / 10);  // so that everything exists that the process keeps in any case
  for (int i = 0; i < first; ++i) come_and_go(server, place("peer"), has_task);
  std::this_thread::sleep_for(200ms);  // sleep: as in wait_until_within()
  const Held before;
  for (int i = 0; i < peers; ++i) come_and_go(server, place("peer"), has_task);
  wait_until_within(before);
  const Held after;
#if !CORELANE_ADDRESS_SANITIZER && !CORELANE_THREAD_SANITIZER
  CHECK(after.mappings <= before.mappings + 128);         // including those of threads
  CHECK(after.heap <= before.heap + 4'000'000);           // the report keeps the latest 256 tasks, each with 8 kB
  CHECK(after.resident <= before.resident + 16'000'000);  // the arenas of threads that start and end
#endif
  if (peers > 100)
    std::cout << kind << (has_task ? " with tasks" : "") << ", " << peers << " peers\n  before: " << before.text()
              << "\n  after:  " << after.text() << '\n';
}

}  // namespace peers_soak_test
