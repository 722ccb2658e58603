// The store in etcd, with a real etcd.
#include "services/nameserver/stores/etcd/etcd_store.h"

#include <deque>

#include "orb/os/files/small_file.h"
#include "services/nameserver/stores/etcd/etcd_keys.h"
#include "services/nameserver/stores/etcd/etcd_owned_names.h"
#include "services/nameserver/stores/http/base64.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;
using namespace std::chrono_literals;

namespace {

// Records the changes that a store has reported.
class ToldChanges {
 public:
  explicit ToldChanges(Store& store) {
    store.on_change([this](const Change& change) {
      const std::lock_guard lock(mutex_);
      changes_.push_back(change);
    });
  }
  std::vector<Change> so_far() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Change> changes_;
};

std::string key_json(const std::string& key) { return R"({"key":")" + to_base64(key) + R"("})"; }

void end_lease(const EtcdServer& server, EtcdLease lease) {
  REQUIRE(server.post("/v3/lease/revoke", R"({"ID":")" + std::to_string(lease) + R"("})").find("header") !=
          std::string::npos);
}

void allow_only_root(const EtcdServer& server, const std::string& password) {
  server.post("/v3/auth/user/add", R"({"name":"root","password":")" + password + R"("})");
  server.post("/v3/auth/role/add", R"({"name":"root"})");
  server.post("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  REQUIRE(server.post("/v3/auth/enable", "{}").find("header") != std::string::npos);
}

}  // namespace

TEST_CASE("an etcd store keeps the laws of stores") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  int number = 0;
  for (const StoreLaw& law : store_laws) {
    INFO(law.sentence);
    law.check(*etcd_store(server.url("/law/" + std::to_string(number++))));
  }
  check_limit_of_client(*etcd_store(server.url("/client"), patient({.limits = few_of_a_client()})));
  check_tight_limits(*etcd_store(server.url("/limits"), patient({.limits = tight_limits})));
  check_loose_contexts(*etcd_store(server.url("/loose"), patient({.limits = few_loose})));
}

TEST_CASE("an etcd store that is opened again has all that lasts") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  ContextId context = 0, gone = 0;
  std::uint64_t revision = 0;
  {
    const auto store = etcd_store(server.url());
    context = store->add_context(root_context, {"plant", ""}).value();
    gone = store->make_context().value();
    REQUIRE(store->destroy_context(gone));
    REQUIRE(store->add(context, {"a", "k"}, object_at("first")));
    revision = store->status().revision;
  }
  const auto store = etcd_store(server.url());
  CHECK(store->contexts().value() == std::vector<ContextId>{context});
  CHECK(store->find(root_context, {"plant", ""}).value() == context_at(context));
  CHECK(reference_at(*store, context, {"a", "k"}) == "first");
  CHECK(store->status().revision >= revision);
  CHECK(store->make_context().value() > gone);
  const StoreStatus status = store->status();
  CHECK(status.kind == "etcd");
  CHECK(status.place == "http://127.0.0.1:" + server.endpoint().port + "/corelane/names/");
}

TEST_CASE("while etcd is away names are found, marked stale, and none is bound, and when it is back all is well") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  EtcdServer server;
  const auto store = etcd_store(server.url());
  REQUIRE(store->add(root_context, {"lasting", ""}, object_at("1")));
  REQUIRE(store->add(root_context, {"owned", ""}, object_at("2", "anna")));
  CHECK_FALSE(store->status().stale);

  server.kill();
  CHECK(fails_with(store->add(root_context, {"new", ""}, object_at("3")), StoreFault::unavailable));
  CHECK(fails_with(store->remove_owned("anna"), StoreFault::unavailable));
  until([&] { return store->status().stale; });
  CHECK_FALSE(store->status().remark.empty());
  CHECK(store->remove_owned("nobody"));
  CHECK(ids_in(*store, root_context) == std::vector<std::string>{"lasting.", "owned."});
  CHECK(reference_at(*store, root_context, {"owned", ""}) == "2");
  CHECK(fails_with(store->make_context(), StoreFault::unavailable));

  server.start();
  until([&] { return !store->status().stale; });
  CHECK(store->status().remark.empty());
  CHECK(ids_in(*store, root_context) == std::vector<std::string>{"lasting.", "owned."});
  CHECK(store->add(root_context, {"new", ""}, object_at("3")));
  CHECK(store->remove_owned("anna"));
  CHECK(ids_in(*store, root_context) == std::vector<std::string>{"lasting.", "new."});
}

TEST_CASE("changes that others made while a nameserver was cut off are reported when it is back") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  EtcdServer server;
  const auto store = etcd_store(server.url());
  const ToldChanges told(*store);
  REQUIRE(store->add(root_context, {"a", ""}, object_at("1")));
  REQUIRE(store->add(root_context, {"b", ""}, object_at("1")));
  server.kill();
  until([&] { return store->status().stale; });
  server.start();
  // Either this store or the other one connects first. The reported changes must be the same.
  const auto other = etcd_store(server.url());
  REQUIRE(other->remove(root_context, {"a", ""}));
  REQUIRE(other->replace(root_context, {"b", ""}, object_at("2")));
  server.post("/v3/kv/compaction", R"({"revision":")" + std::to_string(other->status().revision) + R"("})");
  until([&] { return store->status().revision >= other->status().revision; });
  CHECK(reference_at(*store, root_context, {"b", ""}) == "2");
  CHECK(reference_at(*store, root_context, {"a", ""}) == "not found");
  until([&] { return told.so_far().size() >= 4; });
  CHECK(told.so_far().size() == 4);
}

TEST_CASE("two nameservers on one etcd agree") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  const auto one = etcd_store(server.url()), other = etcd_store(server.url());
  const ToldChanges told_by_one(*one), told_by_other(*other);
  const ContextId context = one->add_context(root_context, {"plant", ""}).value();
  until([&] { return other->has_context(context).value(); });
  constexpr int names = 100;
  int won[2] = {0, 0};
  {
    std::vector<std::jthread> binders;
    for (const int which : {0, 1})
      binders.emplace_back([&, which] {
        Store& store = which == 0 ? *one : *other;
        for (int i = 0; i < names; ++i)
          if (store.add(context, {std::to_string(i), ""}, object_at(std::to_string(which)))) ++won[which];
      });
  }
  CHECK(won[0] + won[1] == names);
  CHECK(one->make_context().value() != other->make_context().value());
  CHECK(one->destroy_context(one->make_context().value()));
  until([&] { return one->status().revision == other->status().revision; });
  CHECK(one->list(context, nullptr, 1000).value() == other->list(context, nullptr, 1000).value());
  CHECK(one->contexts().value() == other->contexts().value());
  until([&] { return told_by_one.so_far().size() == told_by_other.so_far().size(); });
  const bool same = told_by_one.so_far() == told_by_other.so_far();
  CHECK(same);
  CHECK(other->owners()->empty());
}

TEST_CASE("two nameservers on one etcd share one limit and keep to it") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  const StoreOptions tight = patient({.limits = {.contexts = 5, .bindings = 20}});
  const auto one = etcd_store(server.url(), tight), other = etcd_store(server.url(), tight);
  std::atomic<int> names{0}, contexts{0};
  {
    std::vector<std::jthread> binders;
    for (int binder = 0; binder < 4; ++binder)
      binders.emplace_back([&, binder] {
        Store& store = binder % 2 == 0 ? *one : *other;
        for (int i = 0; i < 10; ++i) {
          const std::string id = std::to_string(binder) + " " + std::to_string(i);
          if (i % 3 == 0 && store.add_context(root_context, {id, "context"})) ++contexts, ++names;
          if (i % 3 == 1 && store.add(root_context, {id, ""}, object_at("1"))) ++names;
          if (i % 3 == 2 && store.replace(root_context, {id, ""}, object_at("1"))) ++names;
        }
      });
  }
  CHECK(names == 20);
  CHECK(contexts == 5);
  until([&] { return one->status().revision == other->status().revision; });
  CHECK(one->list(root_context, nullptr, 100)->size() == 20);
  CHECK(fails_with(other->make_context(), StoreFault::full));
}

TEST_CASE("names of owners end when no nameserver keeps their lease") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  const auto other = etcd_store(server.url());
  {
    const auto one = etcd_store(server.url(), patient({.etcd_lease = 3s}));
    REQUIRE(one->add(root_context, {"lasting", ""}, object_at("1")));
    REQUIRE(one->add(root_context, {"owned", ""}, object_at("2", "anna")));
    until([&] { return ids_in(*other, root_context).size() == 2; });
  }
  until([&] { return ids_in(*other, root_context).size() == 1; });
  CHECK(ids_in(*other, root_context) == std::vector<std::string>{"lasting."});
}

TEST_CASE("a name that ended with its lease is bound again, and one that a client removed is not") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const EtcdServer server;
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  EtcdOwnedNames owned(client, 60s);
  const EtcdLease lease = owned.lease().value();
  const auto put = [&](const std::string& key, EtcdLease with, const std::string& value) {
    EtcdTransaction transaction;
    return client.commit(transaction.then_put(key, value, with)).value().revision;
  };
  for (const char* key : {"kept", "removed", "taken"}) {
    const std::uint64_t revision = put(key, lease, "hers");
    owned.bound("anna", {key, "hers", {}}, lease, revision);
  }
  owned.bound("anna", {"nowhere", "hers", "no such context"}, lease, 1);
  const std::uint64_t left = put("left", lease, "theirs");
  owned.bound("otto", {"left", "theirs", {}}, lease, left);
  EtcdTransaction removal;
  const std::uint64_t removed = client.commit(removal.then_delete("removed")).value().revision;
  owned.seen({.is_deletion = true, .entry = {.key = "removed", .modified = removed}});
  REQUIRE(owned.keep());  // the lease still exists: this deletion was not its end
  end_lease(server, lease);
  put("taken", 0, "theirs");
  owned.leave("otto");
  REQUIRE(owned.keep());
  const auto there = client.range("a", "z", 10).value().entries;
  REQUIRE(there.size() == 2);
  CHECK(there[0].key == "kept");
  CHECK(there[0].value == "hers");
  CHECK(there[0].lease == owned.lease().value());
  CHECK(there[1].value == "theirs");
  CHECK(owned.lease().value() != lease);
  CHECK(owned.remove("anna").value() != 0);
  CHECK(client.range("a", "z", 10).value().entries.size() == 1);
}

TEST_CASE("more names of one owner than fit into one step are bound again and removed all the same") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  EtcdOwnedNames owned(client, 60s);
  constexpr std::size_t names = 2 * EtcdOwnedNames::names_in_step + 1;
  for (std::size_t i = 0; i < names; ++i) owned.bound("anna", {"n" + std::to_string(i), "hers", {}}, 1, 0);
  REQUIRE(owned.keep());
  EtcdTransaction theirs;
  REQUIRE(client.commit(theirs.then_put("n7", "theirs")));
  CHECK(client.range("n", "o", 2 * names).value().entries.size() == names);
  CHECK(owned.owners() == std::vector<std::string>{"anna"});
  CHECK(owned.remove("anna").value() != 0);
  CHECK(client.range("n", "o", 2 * names).value().entries.size() == 1);
  CHECK(owned.owners().empty());
}

TEST_CASE("a nameserver that starts goes on with the owners that the one before it had on its host") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  {
    const auto before = etcd_store(server.url());
    REQUIRE(before->add(root_context, {"a", ""}, object_at("1", "anna")));
    REQUIRE(before->add(root_context, {"o", ""}, object_at("2", "otto")));
  }
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  EtcdTransaction elsewhere;
  const EtcdKeys keys("/corelane/names/");
  elsewhere.then_put(keys.name(root_context, {"z", ""}), etcd_value_of(object_at("3", "zoe"), "another host"),
                     client.grant(600s).value());
  REQUIRE(client.commit(elsewhere));
  const auto after = etcd_store(server.url());
  CHECK(after->owners().value() == std::vector<std::string>{"anna", "otto"});
  CHECK(after->remove_owned("anna"));
  CHECK(after->remove_owned("zoe"));
  CHECK(ids_in(*after, root_context) == std::vector<std::string>{"o.", "z."});
}

TEST_CASE("names that another nameserver of the host keeps are taken over when their lease is no longer kept") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  EtcdOwnedNames one(client, 600s), other(client, 600s), sure(client, 600s, 1.1);
  const EtcdLease of_one = one.lease().value();
  const auto bind = [&](const std::string& key) {
    EtcdTransaction transaction;
    const std::uint64_t revision = client.commit(transaction.then_put(key, "hers", of_one)).value().revision;
    one.bound("anna", {key, "hers", {}}, of_one, revision);
    for (EtcdOwnedNames* each : {&other, &sure}) each->adopt("anna", {key, "hers", {}}, of_one, revision);
    return [&client, key] { return client.range(key, key + '\0', 1).value().entries.at(0).lease; };
  };
  const auto a = bind("a");
  REQUIRE(other.keep());
  CHECK(a() == of_one);
  REQUIRE(sure.keep());
  CHECK(a() == sure.lease().value());
  CHECK_FALSE(sure.watches_others());

  bind("b");
  end_lease(server, of_one);
  REQUIRE(other.keep());  // the owner of the lease may have ended
  CHECK(a() == sure.lease().value());
  CHECK(client.range("b", "c", 1).value().entries.empty());
}

TEST_CASE("names are read whole in pages of any size, and those that are too long for one reply in smaller ones") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  {
    const auto store = etcd_store(server.url("/few"));
    for (int i = 0; i < 9; ++i) REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at("x")));
  }
  // The keys `format` and `next` exist in addition to the names.
  for (const std::size_t page : {1u, 2u, 10u, 11u, 12u, 1000u}) {
    StoreOptions options = patient();
    options.etcd_page = page;
    CAPTURE(page);
    CHECK(ids_in(*etcd_store(server.url("/few"), options), root_context).size() == 9);
  }
  constexpr std::size_t longest = StoreLimits{}.reference;
  {
    const auto store = etcd_store(server.url("/long"));
    for (int i = 0; i < 40; ++i)
      REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at(std::string(longest, 'r'))));
  }
  StoreOptions options = patient();
  options.etcd_reply = 10 * longest;
  const auto store = etcd_store(server.url("/long"), options);
  CHECK(ids_in(*store, root_context).size() == 40);
  CHECK(reference_at(*store, root_context, {"39", ""}).size() == longest);
  CHECK(store->add(root_context, {"another", ""}, object_at("x")));
}

TEST_CASE("an etcd with users is served with a password, and refuses without") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const EtcdServer server;
  allow_only_root(server, "secret");
  const auto without = open_store(server.url(), patient());
  REQUIRE_FALSE(without);
  CHECK(without.error().find("see which user and password this nameserver was given") != std::string::npos);
  const auto wrong = open_store(server.url(), patient({.etcd_user = "root", .etcd_password = "guess"}));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().find("authentication failed") != std::string::npos);
  const auto store = etcd_store(server.url(), patient({.etcd_user = "root", .etcd_password = "secret"}));
  CHECK(store->add(root_context, {"a", ""}, object_at("1", "anna")));
  CHECK(reference_at(*store, root_context, {"a", ""}) == "1");
}

TEST_CASE("an etcd whose users have changed is asked again with a new login") {
  if (lacks_etcd()) return;
  const corelane::testing::TempDirectory directory;
  const std::string key = directory / "key";
  REQUIRE(corelane::os::write_small_file(key, "a secret of thirty-two bytes, or more"));
  const EtcdServer server(" --auth-token jwt,sign-method=HS256,ttl=24h,priv-key='" + key + "'");
  allow_only_root(server, "secret");
  const auto store = etcd_store(server.url(), patient({.etcd_user = "root", .etcd_password = "secret"}));
  REQUIRE(store->add(root_context, {"a", ""}, object_at("1")));
  HttpConnection root(server.endpoint());
  const auto login = root.post({.path = "/v3/auth/authenticate", .body = R"({"name":"root","password":"secret"})"});
  REQUIRE(login);
  const std::size_t token = login->body.find("\"token\":\"") + 9;
  const auto changed = root.post({.path = "/v3/auth/user/add",
                                  .body = R"({"name":"anna","password":"another"})",
                                  .authorization = login->body.substr(token, login->body.find('"', token) - token)});
  REQUIRE(changed);
  REQUIRE(changed->ok());
  CHECK(store->add(root_context, {"b", ""}, object_at("1")));
}

TEST_CASE("etcd data of a newer Corelane is refused") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  server.post("/v3/kv/put",
              R"({"key":")" + to_base64("/corelane/names/format") + R"(","value":")" + to_base64("2") + R"("})");
  const auto refused = open_store(server.url(), patient());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find(
            "has format '2', and this Corelane knows 1: use the Corelane that wrote it, or another prefix") !=
        std::string::npos);
  CHECK(server.post("/v3/kv/range", key_json("/corelane/names/format")).find(to_base64("2")) != std::string::npos);
}

TEST_CASE("a history that etcd has forgotten is no end of a watch but a fault") {
  if (lacks_etcd()) return;
  const EtcdServer server;
  EtcdClient client({.endpoints = {server.endpoint()}, .timeout = 200s});
  for (int i = 0; i < 3; ++i) {
    EtcdTransaction transaction;
    REQUIRE(client.commit(transaction.then_put("key", std::to_string(i))));
  }
  EtcdWatch whole(client);
  REQUIRE(whole.open("k", 2));
  std::size_t events = 0;
  while (events < 3) events += whole.next().value().size();
  server.post("/v3/kv/compaction", R"({"revision":"4"})");
  EtcdWatch forgotten(client);
  REQUIRE(forgotten.open("k", 2));
  auto next = forgotten.next();
  while (next && next->empty()) next = forgotten.next();
  REQUIRE_FALSE(next);
  CHECK(next.error().kind == EtcdFault::Kind::compacted);
}
