#include "orb/core/hooks/client_request_hook.h"

#include <catch2/catch.hpp>
#include <string>

namespace client_request_hook_test {

using namespace corelane;
using namespace corelane::core;

namespace {

thread_local std::string ran;

constexpr std::uint32_t refused_minor = 77;

const ClientRequestHook for_chains{
    .name = "for chains",
    .causes = hook_cause::chain,
    .before_send =
        [](const ClientRequest&, giop::ContextBuffer&) noexcept {
          ran += 'c';
          return Expected<void>();
        },
    .after_reply = [](const ClientRequest&, const ClientReply&) noexcept { ran += 'C'; },
};
const ClientRequestHook when_propagating{
    .name = "when propagating",
    .is_chosen = [](const Settings& settings) noexcept { return settings.propagate_deadlines; },
    .before_send = [](const ClientRequest& request, giop::ContextBuffer&) noexcept -> Expected<void> {
      ran += 'p';
      if (request.oneway) return Error{ErrorKind::no_permission, Completion::no, refused_minor};
      return {};
    },
};
const ClientRequestHook for_contracts{
    .name = "for contracts",
    .causes = hook_cause::contract,
    .before_send =
        [](const ClientRequest&, giop::ContextBuffer&) noexcept {
          ran += 't';
          return Expected<void>();
        },
};
constexpr const ClientRequestHook* table[] = {&for_chains, &when_propagating, &for_contracts};

struct Fixture {
  Settings settings;
  std::optional<giop::CodeSetChoice> code_sets;
  giop::ChainContext chain;
  giop::ContextBuffer contexts;

  Fixture() { ran.clear(); }
  ClientRequest request(bool oneway = false) const {
    return {.settings = settings, .operation = "go", .oneway = oneway, .code_sets = code_sets, .chain = chain};
  }
  ClientHooks hooks(bool propagates) {
    settings.propagate_deadlines = propagates;
    return ClientHooks(settings, table);
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "hooks run in the order of the table, for the causes of the call alone") {
  const ClientHooks all = hooks(true);
  CHECK(all.before_send(hook_cause::contract | hook_cause::chain, request(), contexts));
  CHECK(ran == "ct");
  ran.clear();
  const giop::ContextList none;
  all.after_reply(hook_cause::contract | hook_cause::chain, request(), {.contexts = none});
  CHECK(ran == "C");
}

TEST_CASE_METHOD(Fixture, "a hook that settings choose gives every call of the ORB a cause") {
  CHECK(hooks(false).causes() == 0);
  const ClientHooks all = hooks(true);
  CHECK(all.causes() == hook_cause::chosen);
  CHECK(all.before_send(all.causes(), request(), contexts));
  CHECK(ran == "p");
}

TEST_CASE_METHOD(Fixture, "the hooks after one that refuses the call do not run") {
  const ClientHooks all = hooks(true);
  const auto done = all.before_send(hook_cause::chosen | hook_cause::contract, request(true), contexts);
  REQUIRE_FALSE(done);
  CHECK(done.error().minor == refused_minor);
  CHECK(ran == "p");
}

TEST_CASE("the hooks for jobs of tasks leave the header to ClientCall, which knows the context of contracts only") {
  for (const ClientRequestHook* const hook : client_request_hooks())
    if ((hook->causes & hook_cause::keeps_header) != 0) CHECK(hook->name == "contract");
}

TEST_CASE("the hooks of an ORB with default settings give no call a cause") {
  CHECK(ClientHooks(Settings{}).causes() == 0);
}

}  // namespace client_request_hook_test
