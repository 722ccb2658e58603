#include "tests/orb/dispatch/allocations.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <new>

#include "orb/base/sanitizer.h"

namespace {

constexpr std::size_t no_allocation = std::numeric_limits<std::size_t>::max();

struct Watch {
  std::size_t seen = 0;
  std::size_t fails_at = no_allocation;
  bool lasting = false;
  bool failed = false;

  bool refuses() noexcept {
    const std::size_t now = seen++;
    if (now != fails_at && !(lasting && now > fails_at)) return false;
    return failed = true;
  }
};
thread_local Watch allocation_watch;

}  // namespace

#if !CORELANE_ADDRESS_SANITIZER && \
    !CORELANE_THREAD_SANITIZER  // which brings its own operators and checks that they match
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocation_watch.refuses() ? nullptr : std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = allocation_watch.refuses() ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace corelane::dispatch::test {

std::size_t allocations() noexcept { return allocation_watch.seen; }

bool allocations_are_counted() {
  const std::size_t before = allocations();
  const auto something = std::make_unique<std::array<char, 64>>();
  something->fill(1);
  if (allocations() > before) return true;
  std::cout << "SKIPPED: the sanitizer's operator new is in use, allocations are not counted\n";
  return false;
}

FailingAllocation::FailingAllocation(std::size_t n, bool lasting) noexcept {
  allocation_watch.fails_at = allocation_watch.seen + n;
  allocation_watch.lasting = lasting;
  allocation_watch.failed = false;
}

FailingAllocation::~FailingAllocation() { allocation_watch.fails_at = no_allocation; }

bool FailingAllocation::happened() const noexcept { return allocation_watch.failed; }

}  // namespace corelane::dispatch::test

using namespace corelane::dispatch::test;

TEST_CASE("allocations are counted") {
  if (!allocations_are_counted()) return;
  const std::size_t before = allocations();
  ::operator delete(::operator new(64));
  CHECK(allocations() == before + 1);
}
