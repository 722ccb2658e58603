// Tests resources that another thread gives back.
#include "orb/os/threads/closer.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "orb/os/wait/wait.h"

using namespace corelane;
using namespace corelane::os;

namespace {

constexpr std::size_t mebi = 1 << 20;

std::byte* mapping_of(std::size_t size) {
  void* const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(base != MAP_FAILED);
  return static_cast<std::byte*>(base);
}

bool is_mapped(std::byte* page) { return msync(page, 1, MS_ASYNC) == 0 || errno != ENOMEM; }

// Blocks the thread of a Closer until `open` is unparked.
struct Gate {
  static void wait(const Closer::Task& task) noexcept { static_cast<Gate*>(task.base)->open.park(never); }
  Parker open;
};

}  // namespace

TEST_CASE("large memory is unmapped to its last page, by another thread") {
  Gate gate;
  REQUIRE(Closer::of_memory().take({.run = Gate::wait, .base = &gate}));
  const std::size_t size = 4 * mebi + 4096;
  std::byte* const base = mapping_of(size);
  unmap(base, size);
  CHECK(is_mapped(base));  // its turn has not come
  gate.open.unpark();
  Closer::of_memory().await();
  for (std::size_t at = 0; at < size; at += 4096) REQUIRE_FALSE(is_mapped(base + at));
}

TEST_CASE("small memory is unmapped at once") {
  std::byte* const base = mapping_of(4096);
  unmap(base, 4096);
  CHECK_FALSE(is_mapped(base));
}

TEST_CASE("a task that finds no room stays with its caller, and the others are done in their order") {
  static std::vector<int> done;  // written by the closer's thread alone until await() returns
  done.clear();
  Gate gate;
  Closer& closer = Closer::of_descriptors();
  REQUIRE(closer.take({.run = Gate::wait, .base = &gate}));
  int taken = 0;
  while (closer.take({.run = [](const Closer::Task& task) noexcept { done.push_back(task.fd); }, .fd = taken})) ++taken;
  CHECK(taken >= 1023);
  gate.open.unpark();
  closer.await();
  REQUIRE(done.size() == static_cast<std::size_t>(taken));
  for (int i = 0; i < taken; ++i) REQUIRE(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("any number of threads may hand over at once") {
  static std::atomic<int> done;
  done = 0;
  constexpr int threads = 4, each = 200;
  std::vector<std::thread> givers;
  for (int i = 0; i < threads; ++i)
    givers.emplace_back([] {
      // relaxed: await() orders
      constexpr auto count = [](const Closer::Task&) noexcept { done.fetch_add(1, std::memory_order_relaxed); };
      for (int n = 0; n < each; ++n)
        if (!Closer::of_memory().take({.run = count})) count({});
    });
  for (std::thread& giver : givers) giver.join();
  Closer::of_memory().await();
  CHECK(done.load(std::memory_order_relaxed) == threads * each);  // relaxed: as above
}

TEST_CASE("a child of fork leaves the parent's memory alone and unmaps its own at once") {
  Gate gate;
  REQUIRE(Closer::of_memory().take({.run = Gate::wait, .base = &gate}));
  std::byte* const base = mapping_of(mebi);
  unmap(base, mebi);
  const pid_t child = fork();
  if (child == 0) {
    std::byte* const own =
        static_cast<std::byte*>(mmap(nullptr, mebi, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    unmap(own, mebi);
    _exit(is_mapped(base) && !is_mapped(own) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  gate.open.unpark();
  Closer::of_memory().await();
}
