// The store in memory, which ends with its process, and the texts that name a store.
#include "services/nameserver/stores/open_store.h"
#include "tests/services/nameserver/stores/store_laws.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

TEST_CASE("a memory store keeps the laws of stores") {
  for (const StoreLaw& law : store_laws) DYNAMIC_SECTION(law.sentence) {
      law.check(*open_store("memory").value());
    }
}

TEST_CASE("a memory store holds what its limits allow") {
  check_limit_of_client(*open_store("memory", {.limits = few_of_a_client()}).value());
  check_tight_limits(*open_store("memory", {.limits = tight_limits}).value());
  check_loose_contexts(*open_store("memory", {.limits = few_loose}).value());
}

TEST_CASE("where no context may be loose the one that was made last is kept until it is bound") {
  const auto store = open_store("memory", {.limits = {.contexts = 3, .loose_contexts = 0}}).value();
  ContextId last = 0;
  for (int made = 0; made < 20; ++made) last = store->make_context().value();
  CHECK(store->contexts().value() == std::vector<ContextId>{last});
  CHECK(store->add(root_context, {"last", ""}, context_at(last)));
  CHECK(store->add_context(root_context, {"another", ""}));
  CHECK(store->has_context(last).value());
}

TEST_CASE("a memory store says what it is") {
  const auto store = open_store("memory").value()->status();
  CHECK(store.kind == "memory");
  CHECK_FALSE(store.stale);
  CHECK(store.revision == 0);
}

TEST_CASE("an unknown store is refused with the list of known ones") {
  const auto refused = open_store("oracle:somewhere");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        "unknown store 'oracle:somewhere': it is memory, sqlite:PATH or etcd:http[s]://HOST:PORT[,...]");
}
