// Several nameservers on one etcd.
#include <catch2/catch.hpp>

#include "tests/services/nameserver/served.h"
#include "tests/services/nameserver/stores/etcd_server.h"
#include "tests/support/quiet.h"

using namespace corelane::testing;
using corelane::nameserver::testing::EtcdServer;
using corelane::nameserver::testing::lacks_etcd;
using corelane::nameserver::testing::until;

TEST_CASE("a bind for which etcd has no room is IMP_LIMIT, and names are found and unbound all the same") {
  if (lacks_etcd()) return;
  const Quiet quiet;
  const EtcdServer etcd(" --quota-backend-bytes 1000000");
  ServedNames names({}, etcd.url());
  const QuietOrb client;
  const auto root = names.seen_by(client);
  const auto thing = client->string_to_object("corbaloc::things.example/" + std::string(7000, 'x'));
  int bound = 0;
  std::string raised;
  for (; raised.empty(); ++bound) raised = raised_by([&] { root->bind(cos_name(std::to_string(bound)), thing); });
  CHECK(raised == "IMP_LIMIT");
  CHECK(bound > 1);
  CHECK(raised_by([&] { root->resolve(cos_name("0")); }) == "");
  CHECK(raised_by([&] { root->unbind(cos_name("0")); }) == "");
}

TEST_CASE("two nameservers on one etcd agree, and go on from their copies while it is away") {
  if (lacks_etcd()) return;
  EtcdServer etcd;
  ServedNames first({}, etcd.url()), second({}, etcd.url());
  const QuietOrb client;
  const auto one = first.seen_by(client), other = second.seen_by(client);
  const auto bind = [](const auto& root, const std::string& name) {
    return raised_by([&] { root->bind(cos_name(name), nullptr); });
  };
  const auto resolves = [](const auto& root, const std::string& name) {
    return raised_by([&] { root->resolve(cos_name(name)); }).empty();
  };
  const auto stale = [](const auto& root) { return root->nameserver()->state().stale(); };

  one->bind_new_context(cos_name("plant"));
  CHECK(bind(one, "plant/x") == "");
  until([&] { return resolves(other, "plant/x"); });
  CHECK(bind(other, "plant/x") == "AlreadyBound");
  const auto plant = IDL::traits<CosNaming::NamingContext>::narrow(other->resolve(cos_name("plant")));
  CHECK(bind(plant, "y") == "");
  until([&] { return resolves(one, "plant/y"); });

  etcd.kill();
  until([&] { return stale(one) && stale(other); });
  CHECK((resolves(one, "plant/y") && resolves(other, "plant/x")));
  CHECK(bind(one, "z") == "TRANSIENT");

  etcd.start();
  until([&] { return !stale(one) && !stale(other); });
  CHECK((resolves(one, "plant/y") && resolves(other, "plant/x")));
  until([&] { return bind(one, "z") != "TRANSIENT"; });
  until([&] { return resolves(other, "z"); });
}
