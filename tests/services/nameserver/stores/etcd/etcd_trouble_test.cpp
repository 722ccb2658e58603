// Two nameservers on an etcd that is killed, cut off or full.
#include <cstdlib>
#include <random>
#include <set>

#include "services/nameserver/stores/etcd/etcd_owned_names.h"
#include "services/nameserver/stores/http/base64.h"
#include "tests/services/nameserver/stores/etcd/cut_network.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/support/quiet.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;
using namespace std::chrono_literals;

namespace {

// Short timeouts, to find out soon that the other side is silent. A bind that takes longer is refused, and the test
// ignores that.
const StoreOptions impatient{.etcd_lease = 3s, .etcd_timeout = 1s, .etcd_patience = 200s};

// A nameserver's store behind a network of its own, and a client that binds names there continuously.
class Host {
 public:
  Host(const EtcdServer& etcd, std::string name)
      : network(etcd.endpoint().port),
        store(etcd_store("etcd:http://127.0.0.1:" + network.port(), impatient)),
        name_(std::move(name)) {}

  void bind_until_told() {
    is_binding_ = true;
    binder_ = std::jthread([this] {
      for (; is_binding_; ++bound_) {
        const NameComponent name{name_ + std::to_string(bound_), ""};
        if (store->add(root_context, name, object_at("1"))) acknowledged_.insert(name.id), ++acknowledged;
      }
    });
  }
  // Stops the binder. Returns all names that were ever acknowledged.
  const std::set<std::string>& stop_binding() {
    is_binding_ = false;
    binder_ = {};
    return acknowledged_;
  }

  CutNetwork network;
  const std::unique_ptr<Store> store;
  std::atomic<int> acknowledged{0};

 private:
  const std::string name_;
  std::set<std::string> acknowledged_;  // used by the binder while it runs
  int bound_ = 0;
  std::atomic<bool> is_binding_{false};
  std::jthread binder_;
};

std::set<std::string> names_in(Store& store) {
  std::set<std::string> names;
  const std::vector<Entry> entries = store.list(root_context, nullptr, 1'000'000).value();
  for (const Entry& entry : entries) names.insert(entry.name.id);
  return names;
}

// Returns the value of a JSON member that is a string.
std::string member_in(const std::string& json, const std::string& name) {
  const std::size_t begin = json.find('"' + name + "\":\"");
  if (begin == std::string::npos) return {};
  const std::size_t value = begin + name.size() + 4;
  return json.substr(value, json.find('"', value) - value);
}

void compact(const EtcdServer& etcd) {
  const std::string revision = member_in(etcd.post("/v3/kv/range", R"({"key":"eA=="})"), "revision");
  etcd.post("/v3/kv/compaction", R"({"physical":true,"revision":")" + revision + R"("})");
}

int rounds() {
  const char* const wanted = std::getenv("CORELANE_ETCD_ROUNDS");  // set it by hand
  return wanted == nullptr ? 4 : std::atoi(wanted);
}

enum class Trouble { killed, silent, broken, silent_and_compacted };

void make_trouble(Trouble trouble, EtcdServer& etcd, Host& one) {
  switch (trouble) {
    case Trouble::killed:
      etcd.kill();
      return etcd.start();
    case Trouble::broken:
      return one.network.break_off();
    case Trouble::silent:
    case Trouble::silent_and_compacted:
      one.network.fall_silent();
      until([&] { return one.store->status().stale; });
      CHECK(reference_at(*one.store, root_context, {"first", ""}) == "1");
      if (trouble == Trouble::silent_and_compacted) compact(etcd);
      return one.network.mend();
  }
}

}  // namespace

TEST_CASE("bound names stay and two nameservers agree, however often etcd is killed or cut off") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  EtcdServer etcd;
  Host one(etcd, "one "), other(etcd, "other ");
  until([&] { return one.store->replace(root_context, {"first", ""}, object_at("1")).has_value(); });
  until([&] { return one.store->replace(root_context, {"owned", ""}, object_at("2", "anna")).has_value(); });
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::minstd_rand random(seed);
  for (int round = 0; round < rounds(); ++round) {
    one.bind_until_told();
    other.bind_until_told();
    const int enough = one.acknowledged + static_cast<int>(random() % 40);
    until([&] { return one.acknowledged >= enough; });
    make_trouble(static_cast<Trouble>(round % 4), etcd, round % 8 < 4 ? one : other);
    for (Host* host : {&one, &other}) {
      const int so_far = host->acknowledged;
      until([&] { return host->acknowledged > so_far; });
    }
    std::set<std::string> promised = one.stop_binding();
    promised.merge(std::set<std::string>(other.stop_binding()));
    promised.insert({"first", "owned"});
    until([&] {
      const StoreStatus here = one.store->status(), there = other.store->status();
      return !here.stale && !there.stale && here.revision == there.revision && names_in(*one.store).contains("owned");
    });
    const std::set<std::string> found = names_in(*one.store);
    CHECK(std::includes(found.begin(), found.end(), promised.begin(), promised.end()));
    until([&] { return names_in(*other.store) == names_in(*one.store); });
  }
  until([&] { return one.store->remove_owned("anna").has_value(); });
  until([&] { return !names_in(*one.store).contains("owned"); });
}

TEST_CASE("a context that another nameserver binds, fills or destroys does not go as one that no name leads to") {
  if (lacks_etcd()) return;
  const EtcdServer etcd;
  CutNetwork network(etcd.endpoint().port);
  const auto other = etcd_store(etcd.url());
  const auto store = etcd_store("etcd:http://127.0.0.1:" + network.port(), patient({.limits = {.loose_contexts = 2}}));
  const ContextId bound = store->make_context().value(), filled = store->make_context().value();
  // Makes a context while the other store changes names. This store learns of the changes only after it has chosen the
  // oldest context, and etcd has refused its transaction.
  const auto made_meanwhile = [&](const auto& done_by_other) {
    until([&] { return store->status().revision == other->status().revision; });
    network.hold_watches();
    done_by_other();
    const int before = network.transactions();
    std::optional<ContextId> made;
    {
      const std::jthread maker([&] {
        if (const auto context = store->make_context()) made = *context;
      });
      until([&] { return network.transactions() > before; });
      network.mend();
    }
    CHECK(network.transactions() - before <= 2);  // the refused transaction, and another one after the store knows why
    REQUIRE(made);
    return *made;
  };
  const ContextId third = made_meanwhile([&] { REQUIRE(other->add(root_context, {"b", ""}, context_at(bound))); });
  CHECK(store->contexts().value() == std::vector<ContextId>{bound, filled, third});
  const ContextId fourth = made_meanwhile([&] { REQUIRE(other->add(filled, {"x", ""}, object_at("1"))); });
  CHECK(store->contexts().value() == std::vector<ContextId>{bound, filled, third, fourth});
  const ContextId fifth = made_meanwhile([&] { REQUIRE(other->destroy_context(third)); });
  CHECK(store->contexts().value() == std::vector<ContextId>{bound, filled, fourth, fifth});
}

TEST_CASE("a name whose bind was done and not answered goes with its owner") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const EtcdServer etcd;
  CutNetwork network(etcd.endpoint().port);
  const auto store = etcd_store("etcd:http://127.0.0.1:" + network.port());
  network.lose_answer_to("/v3/kv/txn");
  CHECK(fails_with(store->add(root_context, {"x", ""}, object_at("1", "anna")), StoreFault::unavailable));
  until([&] { return names_in(*store).contains("x"); });
  CHECK(store->owners().value() == std::vector<std::string>{"anna"});
  CHECK(store->remove_owned("anna"));
  CHECK_FALSE(names_in(*store).contains("x"));
  CHECK(names_in(*etcd_store(etcd.url())).empty());
}

TEST_CASE("a name whose replacement was done and not answered goes with its new owner") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const EtcdServer etcd;
  CutNetwork network(etcd.endpoint().port);
  const auto store = etcd_store("etcd:http://127.0.0.1:" + network.port());
  REQUIRE(store->add(root_context, {"x", ""}, object_at("1", "anna")));
  network.lose_answer_to("/v3/kv/txn");
  CHECK(fails_with(store->replace(root_context, {"x", ""}, object_at("2", "otto")), StoreFault::unavailable));
  until([&] { return reference_at(*store, root_context, {"x", ""}) == "2"; });
  CHECK(store->remove_owned("anna"));
  CHECK(names_in(*store).contains("x"));
  CHECK(store->remove_owned("otto"));
  CHECK(names_in(*store).empty());
}

TEST_CASE("a name that etcd tells of only after its owner's end is removed") {
  if (lacks_etcd()) return;
  const EtcdServer etcd;
  EtcdClient client({.endpoints = {etcd.endpoint()}, .timeout = 200s});
  EtcdOwnedNames owned(client, 600s);
  const EtcdLease lease = owned.lease().value();
  const auto put = [&](const std::string& key) {
    EtcdTransaction transaction;
    return client.commit(transaction.then_put(key, "value", lease)).value().revision;
  };
  owned.asks("anna");  // it never gets an answer
  owned.asks("otto");
  owned.answered("otto");
  REQUIRE(owned.remove("anna"));
  REQUIRE(owned.remove("otto"));
  owned.adopt("anna", {"a", "value", {}}, lease, put("a"));
  CHECK(owned.has_late_names());
  owned.adopt("zoe", {"z", "value", {}}, lease, put("z"));
  REQUIRE(owned.keep());
  CHECK_FALSE(owned.has_late_names());
  const auto there = client.range("a", "zz", 10).value().entries;
  REQUIRE(there.size() == 1);
  CHECK(there[0].key == "z");
}

TEST_CASE("an etcd without room fails only writers, with what to do, until there is room again") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const EtcdServer etcd(" --quota-backend-bytes 1000000");
  const auto store = etcd_store(etcd.url());
  const std::string long_one(20'000, 'r');
  REQUIRE(store->add(root_context, {"owned", ""}, object_at("x", "anna")));
  int bound = 0;
  auto done = store->add(root_context, {"0", ""}, object_at(long_one));
  for (; done; done = store->add(root_context, {std::to_string(bound), ""}, object_at(long_one))) ++bound;
  REQUIRE(bound > 0);
  CHECK(fails_with(done, StoreFault::no_space));
  CHECK(store->status().remark.find("database space exceeded: compact and defragment etcd") != std::string::npos);
  CHECK_FALSE(store->status().stale);
  CHECK(reference_at(*store, root_context, {"0", ""}) == long_one);
  CHECK(store->remove_owned("anna"));
  for (int i = 0; i < bound; ++i) CHECK(store->remove(root_context, {std::to_string(i), ""}));

  compact(etcd);
  etcd.post("/v3/maintenance/defragment", "{}");
  const std::string member = member_in(etcd.post("/v3/maintenance/alarm", R"({"action":"GET"})"), "memberID");
  etcd.post("/v3/maintenance/alarm", R"({"action":"DEACTIVATE","alarm":"NOSPACE","memberID":")" + member + R"("})");
  CHECK(store->add(root_context, {"again", ""}, object_at(long_one)));
  CHECK(store->status().remark.empty());
}
