// Tests memory for channels in huge pages.
#include "orb/channel/memory/memory.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "orb/os/threads/closer.h"
#include "orb/os/wait/wait.h"

namespace memory_test {

using namespace corelane::channel;

namespace {

constexpr std::size_t mebi = 1 << 20;

// Returns the value in kB that smaps gives for that name, for the mapping that begins at `base`. Returns -1 if there is
// none.
long kilobytes_at(const std::byte* base, const char* name) {
  std::ifstream maps("/proc/self/smaps");
  bool is_it = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      is_it = begin == reinterpret_cast<std::uintptr_t>(base);
    else if (is_it && line.starts_with(name))
      return std::stol(line.substr(line.find_first_of("0123456789")));
  }
  return -1;
}

}  // namespace

TEST_CASE("memory that is moved into huge pages keeps what it holds, and a peer takes it as it is") {
  const auto made = make_memory(4 * mebi, Writers::maker_alone);
  REQUIRE(made);
  const Mapping& mine = made->mapping;
  for (std::size_t at = 0; at < mine.size(); at += 4096) *mine.at(at) = static_cast<std::byte>(at / 4096 % 251);
  if (!mine.use_huge_pages()) {
    std::cout << "SKIPPED: this system has no huge pages for shared memory now\n";
    return;
  }
  const auto peers = adopt_memory(made->fd, 4 * mebi, Writers::maker_alone);
  REQUIRE(peers);
  CHECK(kilobytes_at(mine.at(0), "ShmemPmdMapped:") >= 2 * 1024);
  bool is_right = true;
  for (std::size_t at = 0; at < mine.size(); at += 4096)
    is_right = is_right && *peers->at(at) == static_cast<std::byte>(at / 4096 % 251);
  CHECK(is_right);
}

TEST_CASE("a thread that releases large memory does not unmap it itself") {
  struct Gate {
    static void wait(const corelane::os::Closer::Task& task) noexcept {
      static_cast<Gate*>(task.base)->open.park(corelane::never);
    }
    corelane::os::Parker open;
  } gate;
  REQUIRE(corelane::os::Closer::of_memory().take({.run = Gate::wait, .base = &gate}));
  const std::byte* base = nullptr;
  {
    const auto made = make_memory(mebi, Writers::maker_alone);
    REQUIRE(made);
    base = made->mapping.at(0);
    REQUIRE(kilobytes_at(base, "Size:") == 1024);
  }
  CHECK(kilobytes_at(base, "Size:") == 1024);
  gate.open.unpark();
  corelane::os::Closer::of_memory().await();
  CHECK(kilobytes_at(base, "Size:") == -1);
}

TEST_CASE("more than half of the machine's memory is refused before the kernel kills others for it") {
  const auto made = make_memory(std::size_t{1} << 50, Writers::maker_alone);
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == SetupFault::Kind::system);
}

TEST_CASE("memory of less than a huge page stays as it is") {
  const auto made = make_memory(64 * 1024, Writers::maker_alone);
  REQUIRE(made);
  CHECK(kilobytes_at(made->mapping.at(0), "ShmemPmdMapped:") == 0);
}

TEST_CASE("memory has huge pages where the host allows them for the asking, and nowhere else") {
  const auto [text, allows] = GENERATE(table<std::string, bool>({
      {"[always] within_size advise never deny force", true},
      {"always [within_size] advise never deny force", true},
      {"always within_size [advise] never deny force", true},
      {"always within_size advise never deny [force]", true},
      {"always within_size advise [never] deny force", false},
      {"always within_size advise never [deny] force", false},
      {"", false},
  }));
  CHECK(allows_huge_pages(text) == allows);
}

}  // namespace memory_test
