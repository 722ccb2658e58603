// Replaces the operators new of the test program, for tests that count allocations or make them fail.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>

#include "orb/base/sanitizer.h"
#include "tests/support/failing_allocations.h"

using corelane::testing::allocations;
using corelane::testing::allocations_are_counted;
using corelane::testing::ChosenAllocations;
using corelane::testing::FailingAllocations;
using corelane::testing::refuses_allocation;

#if !CORELANE_ADDRESS_SANITIZER && \
    !CORELANE_THREAD_SANITIZER  // which brings its own operators and checks that they match
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return refuses_allocation(size) ? nullptr : std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = refuses_allocation(size) ? nullptr : std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

TEST_CASE("allocations are counted") {
  if (!allocations_are_counted()) return;
  const std::size_t before = allocations();
  ::operator delete(::operator new(64));
  CHECK(allocations() == before + 1);
}

namespace {

// Returns which of three allocations fail, as text.
std::string failures_of(const ChosenAllocations& chosen) {
  std::string failed;
  const FailingAllocations failing(chosen);
  for (const std::size_t bytes : {std::size_t{32}, std::size_t{64}, std::size_t{32}}) {
    void* const memory = ::operator new(bytes, std::nothrow);
    failed += memory == nullptr ? 'x' : '-';
    ::operator delete(memory);
  }
  return failed;
}

}  // namespace

TEST_CASE("the chosen allocations fail") {
  if (!allocations_are_counted()) return;
  CHECK(failures_of({}) == "xxx");
  CHECK(failures_of({.bytes = 32}) == "x-x");
  CHECK(failures_of({.first = 1}) == "-xx");
  CHECK(failures_of({.first = 1, .lasting = false}) == "-x-");
  CHECK(failures_of({.bytes = 32, .first = 1}) == "--x");
  CHECK(failures_of({.first = 3}) == "---");
}

TEST_CASE("it is known whether an allocation has failed") {
  if (!allocations_are_counted()) return;
  std::optional<FailingAllocations> failing(std::in_place);
  CHECK_FALSE(failing->happened());
  void* const memory = ::operator new(64, std::nothrow);
  const bool happened = failing->happened();
  failing.reset();
  CHECK(memory == nullptr);
  CHECK(happened);
}
