// Tests the headers of calls of an admitted task. The client keeps a header, and changes only the numbers in it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "orb/core/client/client_call.h"
#include "orb/giop/contexts.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"

namespace bound_header_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// The period is so short that no call of these tests is early. Admission is off.
constexpr Contract no_wait{.period = 1ns, .deadline = 5ns, .budget = 1ns, .jitter = 3ns};

bool has(Bytes header, Bytes context) { return !std::ranges::search(header, context).empty(); }

// Returns the number of the job in the header of a call that is not sent; 0: it has none of `task`.
std::uint64_t job_in_header(const std::shared_ptr<core::Reference>& reference, TaskId task,
                            const std::shared_ptr<core::TaskBinding>& binding) {
  core::ClientCallPtr call = core::ClientCall::acquire();
  call->begin(reference, "add", {.binding = binding});
  const Bytes header = call->arguments().bytes();
  for (std::uint64_t job = 1; job < 100; ++job)
    if (has(header, giop::encode_contract({.task = task, .job = JobId{job}, .contract = {}}))) return job;
  return 0;
}

// Returns the time left (orb/core/hooks/deadline.cpp) in the header of a call that is not sent; 0: it has none.
std::uint64_t time_left_in_header(const std::shared_ptr<core::Reference>& reference,
                                  const std::shared_ptr<core::TaskBinding>& binding, Time latest) {
  constexpr std::uint32_t id = giop::context::deadline;
  constexpr std::size_t time_at = 16;  // from the id on: 4 bytes for it and for the length, then the content
  core::ClientCallPtr call = core::ClientCall::acquire();
  call->begin(reference, "add", {.binding = binding, .latest = latest});
  const Bytes header = call->arguments().bytes();
  const auto found = std::ranges::search(header, std::as_bytes(std::span(&id, 1)));
  if (found.empty()) return 0;
  std::uint64_t left = 0;
  std::memcpy(&left, &*found.begin() + time_at, sizeof left);
  return left;
}

}  // namespace

TEST_CASE("each call of a task has its own job, whether its header was kept or not") {
  ProbeServer server({"-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  const auto first = rt::admit(probe, {.operation = "add", .contract = no_wait});
  REQUIRE(first);
  const auto reference = probe->_reference();
  const auto binding = reference->binding_of("add");
  REQUIRE(binding);
  CHECK(probe->add(2, 3) == 5);  // from here on the server is known
  const std::uint64_t job = job_in_header(reference, first->id(), binding);
  REQUIRE(job > 0);
  for (std::uint64_t i = 1; i < 5; ++i) CHECK(job_in_header(reference, first->id(), binding) == job + i);
  CHECK(job_in_header(reference, first->id(), nullptr) == 0);  // not in the header of a call without a task
  CHECK(job_in_header(reference, first->id(), binding) == job + 5);
  CHECK(probe->add(2, 3) == 5);
  CHECK(job_in_header(reference, first->id(), binding) == job + 7);
}

TEST_CASE("a hook that settings choose adds its context to each call of a task anew") {
  ProbeServer server({"-ORBDispatchMode", "direct", "-ORBDispatchAdmission", "off"});
  TestOrb client({"-ORBTimeoutPropagate", "on", "-ORBTimeoutRequest", "0s"});
  const auto probe = probe_of(client, server.ior());
  const auto task = rt::admit(probe, {.operation = "add", .contract = no_wait});
  REQUIRE(task);
  const auto reference = probe->_reference();
  const auto binding = reference->binding_of("add");
  REQUIRE(binding);
  CHECK(probe->add(2, 3) == 5);  // from here on the server is known
  const Time latest = os::now() + 1h;
  std::uint64_t left = time_left_in_header(reference, binding, latest);
  REQUIRE(left > 0);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t less = time_left_in_header(reference, binding, latest);
    CHECK(less > 0);
    CHECK(less < left);
    left = less;
  }
  const std::uint64_t job = job_in_header(reference, task->id(), binding);
  CHECK(job > 0);
  CHECK(job_in_header(reference, task->id(), binding) == job + 1);
}

}  // namespace bound_header_test
