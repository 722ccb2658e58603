#include "orb/core/hooks/server_request_hook.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace server_request_hook_test {

using namespace corelane;
using namespace corelane::core;

namespace {

thread_local std::string ran;

// Notes the size of its context.
const ServerRequestHook outer{
    .name = "outer",
    .context = 100,
    .on_request = [](Bytes content, ReceivedRequest& request) noexcept -> Expected<void> {
      if (content.empty()) return Error{ErrorKind::no_permission, Completion::no, 0};
      request.note(content.size());
      return {};
    },
    .around_upcall =
        [](ServerUpcall& upcall, std::uint64_t note) {
          ran += "(" + std::to_string(note);
          upcall.proceed();
          ran += ")";
        },
};
// Reads every request if settings choose it.
const ServerRequestHook inner{
    .name = "inner",
    .is_chosen = [](const Settings& settings) noexcept { return settings.propagate_deadlines; },
    .on_request =
        [](Bytes, ReceivedRequest& request) noexcept {
          request.note(0);
          return Expected<void>();
        },
    .around_upcall =
        [](ServerUpcall& upcall, std::uint64_t) {
          ran += "[";
          upcall.proceed();
          ran += "]";
        },
};
const ServerRequestHook refusing{
    .name = "refusing",
    .context = 101,
    .on_request =
        [](Bytes, ReceivedRequest& request) noexcept {
          request.note(0);
          return Expected<void>();
        },
    .around_upcall = [](ServerUpcall& upcall, std::uint64_t) { upcall.refuse({ErrorKind::timeout}); },
};
constexpr const ServerRequestHook* table[] = {&outer, &inner, &refusing};

struct Operation final : ServerUpcall {
  void proceed() override { ran += "run"; }
  void refuse(const Error&) override { ran += "refused"; }
};

struct Fixture {
  giop::ConnectionCodeSets sets;
  ReceivedRequest request{sets};
  cdr::Writer writer;
  Settings settings;

  Fixture() { ran.clear(); }
  Expected<void> read(const std::vector<giop::ServiceContext>& contexts) {
    request.begin("go", giop::giop_1_2, Time{});
    writer.clear(native_order);
    giop::write_contexts(writer, contexts);
    cdr::Reader reader(writer.bytes());
    giop::ContextList list;
    REQUIRE(giop::ContextList::read(reader, {}, list));
    return ServerHooks(settings, table).read(list, request);
  }
  std::string run() {
    Operation operation;
    ran.clear();
    run_around_upcall(request.notes, operation, table);
    return ran;
  }
};

const std::vector<std::byte> three_bytes(3);

}  // namespace

TEST_CASE_METHOD(Fixture, "a request without contexts runs no hook") {
  CHECK(read({}));
  CHECK(request.notes.mask == 0);
  CHECK(run() == "run");
}

TEST_CASE_METHOD(Fixture, "a hook whose context came runs around the operation, with its note") {
  CHECK(read({{99, {}}, {100, three_bytes}}));
  CHECK(run() == "(3run)");
}

TEST_CASE_METHOD(Fixture, "a hook that settings choose and that needs no context runs for each request") {
  settings.propagate_deadlines = true;
  CHECK(read({}));
  CHECK(run() == "[run]");
  CHECK(read({{100, three_bytes}}));
  CHECK(run() == "(3[run])");
}

TEST_CASE_METHOD(Fixture, "a hook refuses a request when its header was read") {
  const auto done = read({{100, {}}});
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == ErrorKind::no_permission);
}

TEST_CASE_METHOD(Fixture, "a hook refuses a request before its operation, inside the hooks before it") {
  CHECK(read({{101, three_bytes}, {100, three_bytes}}));
  CHECK(run() == "(3refused)");
}

TEST_CASE_METHOD(Fixture, "the notes of a request do not reach the next one") {
  CHECK(read({{100, three_bytes}}));
  CHECK(read({{99, three_bytes}}));
  CHECK(run() == "run");
}

}  // namespace server_request_hook_test
