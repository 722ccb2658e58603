#include "orb/poa/poa.h"

#include <malloc.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/minor.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::testing;

namespace {

struct Adapter {
  TestOrb orb;
  CORBA::object_reference<PortableServer::POA> poa = orb.root();
  CORBA::servant_reference<ProbeServant> servant = CORBA::make_reference<ProbeServant>();
};

}  // namespace

TEST_CASE("RootPOA is an initial reference, always the same, and narrows to what it is") {
  Adapter adapter;
  CHECK(adapter.poa->the_name() == "RootPOA");
  CHECK(adapter.orb.root() == adapter.poa);
  CHECK_FALSE(IDL::traits<Probing::Probe>::narrow(adapter.orb->resolve_initial_references("RootPOA")));
}

TEST_CASE("a servant, its id and its reference lead to each other") {
  Adapter adapter;
  const auto id = adapter.poa->activate_object(adapter.servant);
  const auto reference = adapter.poa->id_to_reference(id);
  CHECK(adapter.poa->servant_to_id(adapter.servant) == id);
  CHECK(adapter.poa->reference_to_id(reference) == id);
  CHECK(adapter.poa->id_to_servant(id).get() == adapter.servant.get());
  CHECK(adapter.poa->reference_to_servant(reference).get() == adapter.servant.get());
  CHECK(adapter.poa->servant_to_reference(adapter.servant)->_is_equivalent(reference));
}

TEST_CASE("an id of one's own is kept") {
  Adapter adapter;
  const PortableServer::ObjectId id{'p', 0, '1'};
  adapter.poa->activate_object_with_id(id, adapter.servant);
  CHECK(adapter.poa->servant_to_id(adapter.servant) == id);
  CHECK(PortableServer::ObjectId_to_string(id) == std::string("p\0001", 3));
  CHECK(PortableServer::string_to_ObjectId(PortableServer::ObjectId_to_string(id)) == id);
}

TEST_CASE("_this() gives the reference under which the servant is active") {
  Adapter adapter;
  const auto id = adapter.poa->activate_object(adapter.servant);
  const auto reference = adapter.servant->_this();
  CHECK(adapter.poa->reference_to_id(reference) == id);
}

TEST_CASE("_this() activates a servant that is active nowhere in the RootPOA") {
  Adapter adapter;
  const auto reference = adapter.servant->_this();
  CHECK(adapter.poa->reference_to_servant(reference).get() == adapter.servant.get());
}

namespace {
// Runs a function once when it is asked for its skeleton, as the adapter does when it begins to activate it.
struct Interrupted final : ProbeServant {
  const corelane::core::Skeleton& _skeleton() const noexcept override {
    if (const auto run = std::exchange(then, nullptr)) run();
    return ProbeServant::_skeleton();
  }
  mutable std::function<void()> then;
};
}  // namespace

TEST_CASE("_this() of a servant that another thread activates at that time gives the same reference") {
  Adapter adapter;
  const auto servant = CORBA::make_reference<Interrupted>();
  CORBA::object_reference<Probing::Probe> of_other;
  servant->then = [&] { std::thread([&] { of_other = servant->_this(); }).join(); };
  const auto reference = servant->_this();
  REQUIRE(of_other);
  CHECK(reference->_is_equivalent(of_other));
}

TEST_CASE("servant_to_id() of a servant that another thread activates at that time gives the same id") {
  Adapter adapter;
  const auto servant = CORBA::make_reference<Interrupted>();
  PortableServer::ObjectId id;
  servant->then = [&] { std::thread([&] { id = adapter.poa->activate_object(servant); }).join(); };
  CHECK(adapter.poa->servant_to_id(servant) == id);
  const auto another = CORBA::make_reference<Interrupted>();
  another->then = [&] { std::thread([&] { adapter.poa->activate_object(another); }).join(); };
  CHECK_THROWS_AS(adapter.poa->activate_object(another), PortableServer::POA::ServantAlreadyActive);
}

TEST_CASE("_this() of a servant with two adapters gives the reference of one that still has it") {
  Adapter adapter;
  const auto child = adapter.poa->create_POA("child", adapter.poa->the_POAManager());
  const auto id = adapter.poa->activate_object(adapter.servant);
  const auto id_in_child = child->activate_object(adapter.servant);
  const bool first_keeps_it = GENERATE(true, false);
  if (first_keeps_it)
    child->deactivate_object(id_in_child);
  else
    adapter.poa->deactivate_object(id);
  const auto reference = adapter.servant->_this();
  const auto& keeper = first_keeps_it ? adapter.poa : child;
  const auto& other = first_keeps_it ? child : adapter.poa;
  CHECK(keeper->reference_to_id(reference) == (first_keeps_it ? id : id_in_child));
  CHECK_THROWS_AS(other->id_to_servant(first_keeps_it ? id_in_child : id), PortableServer::POA::ObjectNotActive);
}

TEST_CASE("_this() of a servant whose adapter was destroyed activates it in the RootPOA") {
  Adapter adapter;
  const auto child = adapter.poa->create_POA("child", adapter.poa->the_POAManager());
  child->activate_object(adapter.servant);
  child->destroy(false, true);
  const auto reference = adapter.servant->_this();
  CHECK(adapter.poa->reference_to_servant(reference).get() == adapter.servant.get());
}

TEST_CASE("_this() of a servant that no reference holds says how a servant is made") {
  Adapter adapter;
  ProbeServant on_the_stack;
  CHECK_THROWS_WITH(on_the_stack._this(), Catch::Contains("CORBA::make_reference<T>()"));
  const auto by_new = std::make_unique<ProbeServant>();
  CHECK_THROWS_WITH(by_new->_this(), Catch::Contains("CORBA::make_reference<T>()"));
}

TEST_CASE("a servant lives as long as it is active") {
  Adapter adapter;
  std::weak_ptr<ProbeServant> watched = adapter.servant.shared();
  const auto id = adapter.poa->activate_object(adapter.servant);
  adapter.servant.reset();
  CHECK_FALSE(watched.expired());
  adapter.poa->deactivate_object(id);
  CHECK(watched.expired());
}

TEST_CASE("a deactivated servant may be activated again under the same id") {
  Adapter adapter;
  const PortableServer::ObjectId id{1};
  adapter.poa->the_POAManager()->activate();
  adapter.poa->activate_object_with_id(id, adapter.servant);
  const auto old = IDL::traits<Probing::Probe>::narrow(adapter.poa->id_to_reference(id));
  adapter.poa->deactivate_object(id);
  adapter.poa->activate_object_with_id(id, adapter.servant);
  CHECK(old->add(1, 2) == 3);
}

TEST_CASE("a servant may deactivate its own object while it runs") {
  struct Leaving : ProbeServant {
    explicit Leaving(CORBA::object_reference<PortableServer::POA> p) : poa(p) {}
    void ping() override { poa->deactivate_object({9}); }
    CORBA::object_reference<PortableServer::POA> poa;
  };
  Adapter adapter;
  adapter.poa->the_POAManager()->activate();
  auto servant = CORBA::make_reference<Leaving>(adapter.poa);
  adapter.poa->activate_object_with_id({9}, servant);
  const auto probe = IDL::traits<Probing::Probe>::narrow(adapter.poa->id_to_reference({9}));
  std::weak_ptr<Leaving> watched = servant.shared();
  servant.reset();
  probe->ping();
  CHECK(watched.expired());
  CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("a further adapter has its own manager and its own objects") {
  Adapter adapter;
  const auto child = adapter.poa->create_POA("child", nullptr);
  CHECK(child->the_POAManager()->get_state() == PortableServer::POAManager::State::HOLDING);
  CHECK(adapter.poa->find_POA("child") == child);
  const auto reference = child->servant_to_reference(adapter.servant);
  CHECK_THROWS_AS(adapter.poa->reference_to_id(reference), PortableServer::POA::WrongAdapter);
  child->destroy(false, true);
  CHECK_THROWS_AS(adapter.poa->find_POA("child"), PortableServer::POA::AdapterNonExistent);
}

TEST_CASE("an adapter lives below its parent without any handle to it") {
  Adapter adapter;
  {
    const auto child = adapter.poa->create_POA("child", adapter.poa->the_POAManager());
    adapter.poa->the_POAManager()->activate();
    child->activate_object_with_id({1}, adapter.servant);
  }
  const auto child = adapter.poa->find_POA("child");
  const auto probe = IDL::traits<Probing::Probe>::narrow(child->id_to_reference({1}));
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("names are those of the parent") {
  Adapter adapter;
  const auto a = adapter.poa->create_POA("a", nullptr);
  const auto inner = a->create_POA("a", nullptr);
  CHECK(a->find_POA("a") == inner);
  CHECK(adapter.poa->find_POA("a") == a);
  CHECK_THROWS_AS(adapter.poa->create_POA("a", nullptr), PortableServer::POA::AdapterAlreadyExists);
}

// mallinfo2() tells nothing in a build with a sanitizer.
TEST_CASE("adapters with managers of their own that are refused or destroyed leave no memory behind") {
  Adapter adapter;
  const bool is_refused = GENERATE(true, false);
  if (is_refused) adapter.poa->create_POA("again", nullptr);
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      if (is_refused)
        CHECK_THROWS_AS(adapter.poa->create_POA("again", nullptr), PortableServer::POA::AdapterAlreadyExists);
      else
        adapter.poa->create_POA("again", nullptr)->destroy(true, true);
    }
  };
  run(100);
  const auto before = mallinfo2().uordblks;
  run(10'000);
  CHECK(mallinfo2().uordblks < before + 200'000);  // bytes; 20 for each
}

TEST_CASE("destroy takes the adapters below along and frees the name") {
  Adapter adapter;
  const auto child = adapter.poa->create_POA("child", adapter.poa->the_POAManager());
  const auto grandchild = child->create_POA("grandchild", adapter.poa->the_POAManager());
  adapter.poa->the_POAManager()->activate();
  const auto probe = IDL::traits<Probing::Probe>::narrow(grandchild->servant_to_reference(adapter.servant));
  child->destroy(false, true);
  CHECK_THROWS_AS(probe->add(1, 2), CORBA::OBJECT_NOT_EXIST);
  CHECK_THROWS_AS(child->create_POA("late", nullptr), CORBA::OBJECT_NOT_EXIST);
  const auto again = adapter.poa->create_POA("child", nullptr);
  child->destroy(false, true);  // a second time; its successor stays
  CHECK(adapter.poa->find_POA("child") == again);
}

TEST_CASE("the keys of a well-known adapter are free as soon as its name is, while destroy() still runs") {
  // Ends with the adapter below, after the name of the upper one is free.
  struct Ending : ProbeServant {
    explicit Ending(std::function<void()> end) : at_end(std::move(end)) {}
    ~Ending() override { at_end(); }
    std::function<void()> at_end;
  };
  Adapter adapter;
  const auto known = adapter.poa->create_well_known("Probes", nullptr);
  known->activate_object_with_id({'1'}, adapter.servant);
  std::string fault = "the servant did not end";
  known->create_POA("below", nullptr)->activate_object(CORBA::make_reference<Ending>([&] {
    try {
      const auto again = adapter.poa->create_well_known("Probes", nullptr);
      again->activate_object_with_id({'1'}, CORBA::make_reference<ProbeServant>());
      fault.clear();
    } catch (const CORBA::Exception& exception) {
      fault = exception.what();
    }
  }));
  known->destroy(false, true);
  CHECK(fault.empty());
  CHECK_FALSE(adapter.poa->find_POA("Probes") == known);
}

TEST_CASE("a servant that holds its own adapter goes with the ORB") {
  struct Holding : ProbeServant {
    CORBA::object_reference<PortableServer::POA> poa;
  };
  std::weak_ptr<Holding> watched;
  {
    Adapter adapter;
    const auto servant = CORBA::make_reference<Holding>();
    servant->poa = adapter.poa;
    adapter.poa->activate_object(servant);
    watched = servant.shared();
  }
  CHECK(watched.expired());
}

// Error paths.

TEST_CASE("a well-known adapter's objects have the keys that they were given") {
  Adapter adapter;
  const auto known = adapter.poa->create_well_known("Probes", nullptr);
  known->the_POAManager()->activate();
  known->activate_object_with_id({}, adapter.servant);
  known->activate_object_with_id({'/', '1'}, CORBA::make_reference<ProbeServant>());
  const TestOrb client;
  const std::string place = "corbaloc:iiop:1.2@" + to_string(adapter.orb->endpoints().front());
  const auto probe = [&](const std::string& key) {
    return IDL::traits<Probing::Probe>::narrow(client->string_to_object(place + "/" + key));
  };
  CHECK(probe("Probes")->add(1, 2) == 3);
  CHECK(adapter.servant->pings == 0);
  probe("Probes/1")->ping();
  CHECK(adapter.servant->pings == 0);
  probe("Probes")->ping();
  CHECK(adapter.servant->pings == 1);
  CHECK(known->reference_to_id(client->string_to_object(place + "/Probes")).empty());
  CHECK_THROWS_AS(probe("Probes/2"), CORBA::OBJECT_NOT_EXIST);
  CHECK_THROWS_AS(adapter.poa->create_well_known("Probes", nullptr), PortableServer::POA::AdapterAlreadyExists);
  CHECK_THROWS_AS(adapter.poa->create_well_known("", nullptr), CORBA::BAD_PARAM);
}

TEST_CASE("a key that an object of another adapter has is taken") {
  Adapter adapter;
  const auto outer = adapter.poa->create_well_known("over", nullptr);
  const auto inner = adapter.poa->create_well_known("overlap", nullptr);
  inner->activate_object_with_id({}, adapter.servant);
  const auto other = CORBA::make_reference<ProbeServant>();
  CHECK_THROWS_AS(outer->activate_object_with_id({'l', 'a', 'p'}, other), PortableServer::POA::ObjectAlreadyActive);
  CHECK_THROWS_AS(outer->id_to_servant({'l', 'a', 'p'}), PortableServer::POA::ObjectNotActive);
  inner->deactivate_object({});
  outer->activate_object_with_id({'l', 'a', 'p'}, other);
  CHECK(outer->servant_to_id(other) == PortableServer::ObjectId{'l', 'a', 'p'});
}

TEST_CASE("an id can be activated as soon as it is not active, whatever other threads do") {
  Adapter adapter;
  constexpr int turns = 2000;
  std::atomic<int> others{0};  // other exceptions
  const auto run = [&] {
    for (int i = 0; i < turns; ++i) {  // each may fail where the other thread was first
      try {
        adapter.poa->activate_object_with_id({1}, CORBA::make_reference<ProbeServant>());
      } catch (const PortableServer::POA::ObjectAlreadyActive&) {
      } catch (const CORBA::SystemException&) {
        ++others;
      }
      try {
        adapter.poa->deactivate_object({1});
      } catch (const PortableServer::POA::ObjectNotActive&) {
      }
    }
  };
  {
    const std::jthread other(run);
    run();
  }
  CHECK(others == 0);
  CHECK_NOTHROW(adapter.poa->activate_object_with_id({1}, adapter.servant));
}

// References without servants.

TEST_CASE("a reference comes first and its object's servant later") {
  Adapter adapter;
  adapter.poa->the_POAManager()->activate();
  const PortableServer::ObjectId own_id{0, 'p', 0};
  const bool has_own_id = GENERATE(false, true);
  const auto reference = has_own_id ? adapter.poa->create_reference_with_id(own_id, "IDL:Probing/Probe:1.0")
                                    : adapter.poa->create_reference("IDL:Probing/Probe:1.0");
  const auto id = adapter.poa->reference_to_id(reference);
  if (has_own_id) CHECK(id == own_id);
  TestOrb client;
  const auto here = IDL::traits<Probing::Probe>::narrow(reference);  // asks nobody
  const auto there = IDL::traits<Probing::Probe>::narrow(client->string_to_object(adapter.orb->object_to_string(here)));
  for (const auto& probe : {here, there}) {
    CHECK(probe->_non_existent());
    CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
  }
  CHECK_THROWS_AS(adapter.poa->id_to_servant(id), PortableServer::POA::ObjectNotActive);
  adapter.poa->activate_object_with_id(id, adapter.servant);
  for (const auto& probe : {here, there}) CHECK(probe->add(1, 2) == 3);
  CHECK(adapter.poa->id_to_reference(id)->_is_equivalent(reference));
  adapter.poa->deactivate_object(id);
  for (const auto& probe : {here, there}) CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("a reference has an id that leaves room for a request, and none that is longer") {
  const std::vector<std::string> options{"-ORBLimitsMessageSize", "4096"};
  TestOrb server(options), client(options);
  const auto known = server.root()->create_well_known("K", nullptr);
  known->the_POAManager()->activate();
  const PortableServer::ObjectId longest(4096 - 256 - 1, 'x');
  const auto reference = known->create_reference_with_id(longest, "IDL:Probing/Probe:1.0");
  CHECK(client->string_to_object(server->object_to_string(reference))->_non_existent());
  PortableServer::ObjectId longer = longest;
  longer.push_back('x');
  try {
    known->create_reference_with_id(longer, "IDL:Probing/Probe:1.0");
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == corelane::minor::key_too_long);
    CHECK_THAT(bad.what(), Catch::Contains("an object key of 3841 bytes for the type id IDL:Probing/Probe:1.0"));
  }
}

TEST_CASE("a reference has no type id with a NUL character") {
  Adapter adapter;
  try {
    adapter.poa->create_reference(std::string("IDL:\0:1.0", 9));
    FAIL("no exception");
  } catch (const CORBA::BAD_PARAM& bad) {
    CHECK(bad.minor() == corelane::minor::string_has_nul);
  }
}

TEST_CASE("references without servants have ids of their own") {
  Adapter adapter;
  const auto first = adapter.poa->reference_to_id(adapter.poa->create_reference(""));
  const auto second = adapter.poa->reference_to_id(adapter.poa->create_reference(""));
  CHECK(first != second);
  CHECK(adapter.poa->activate_object(adapter.servant) != first);
  CHECK(adapter.poa->servant_to_id(adapter.servant) != second);
}

TEST_CASE("a reference of a well-known adapter outlives its program without a servant") {
  const TempDirectory directory;
  const std::string endpoint = "unix:" + directory / "s";
  const PortableServer::ObjectId id{'/', 0, '1'};
  std::string text;
  {
    TestOrb first({"-ORBEndpointListen", endpoint});
    text = first->object_to_string(
        first.root()->create_well_known("Probes", nullptr)->create_reference_with_id(id, "IDL:Probing/Probe:1.0"));
  }
  TestOrb second({"-ORBEndpointListen", endpoint});
  const auto known = second.root()->create_well_known("Probes", nullptr);
  known->the_POAManager()->activate();
  TestOrb client;
  const auto probe = unchecked_probe(client, text);
  CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
  known->activate_object_with_id(id, CORBA::make_reference<ProbeServant>());
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("an id that a well-known adapter chose does not become another object's in a later start") {
  const TempDirectory directory;
  const std::string endpoint = "unix:" + directory / "s";
  std::string text;
  PortableServer::ObjectId id;
  {
    TestOrb first({"-ORBEndpointListen", endpoint});
    const auto known = first.root()->create_well_known("Probes", nullptr);
    const auto servant = CORBA::make_reference<ProbeServant>();
    id = known->activate_object(servant);
    text = first->object_to_string(known->servant_to_reference(servant));
    known->destroy(false, true);
    CHECK(first.root()->create_well_known("Probes", nullptr)->activate_object(servant) != id);
  }
  TestOrb second({"-ORBEndpointListen", endpoint});
  const auto known = second.root()->create_well_known("Probes", nullptr);
  known->the_POAManager()->activate();
  known->activate_object(CORBA::make_reference<ProbeServant>());
  TestOrb client;
  const auto probe = unchecked_probe(client, text);
  CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);
  known->activate_object_with_id(id, CORBA::make_reference<ProbeServant>());  // the program may keep it
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("a transient reference without a servant ends with its program") {
  const TempDirectory directory;
  const std::string endpoint = "unix:" + directory / "s";
  std::string text;
  {
    TestOrb first({"-ORBEndpointListen", endpoint});
    text = first->object_to_string(first.root()->create_reference_with_id({1}, "IDL:Probing/Probe:1.0"));
  }
  TestOrb second({"-ORBEndpointListen", endpoint});
  second.root()->the_POAManager()->activate();
  second.root()->activate_object_with_id({1}, CORBA::make_reference<ProbeServant>());
  TestOrb client;
  try {
    unchecked_probe(client, text)->ping();
    FAIL("no exception");
  } catch (const CORBA::OBJECT_NOT_EXIST& gone) {
    CHECK(gone.minor() == corelane::minor::earlier_start);
  }
}

TEST_CASE("a reference of another interface than its servant's is narrowed to what the servant is") {
  Adapter adapter;
  adapter.poa->the_POAManager()->activate();
  const auto type = GENERATE(as<std::string>{}, "", "IDL:Probing/Other:1.0", "no repository id");
  const auto reference = adapter.poa->create_reference_with_id({1}, type);
  CHECK_THROWS_AS(IDL::traits<Probing::Probe>::narrow(reference), CORBA::OBJECT_NOT_EXIST);
  adapter.poa->activate_object_with_id({1}, adapter.servant);
  const auto probe = IDL::traits<Probing::Probe>::narrow(reference);
  REQUIRE(probe);
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("a reference to an object that is active already calls it") {
  Adapter adapter;
  adapter.poa->the_POAManager()->activate();
  const auto id = adapter.poa->activate_object(adapter.servant);
  const auto reference = adapter.poa->create_reference_with_id(id, "IDL:Probing/Probe:1.0");
  CHECK(IDL::traits<Probing::Probe>::narrow(reference)->add(1, 2) == 3);
}

TEST_CASE("an adapter that is destroyed makes no references") {
  Adapter adapter;
  const auto child = adapter.poa->create_POA("child", nullptr);
  child->destroy(false, false);
  CHECK_THROWS_AS(child->create_reference("IDL:Probing/Probe:1.0"), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("an object whose tasks cannot be asked for is not active") {
  Adapter first;
  first.poa->activate_object(first.servant);  // starts the threads of the process
  TestOrb second({"-ORBBestEffortThreads", "3"});
  const auto servant = CORBA::make_reference<ProbeServant>();
  CHECK_THROWS_AS(second.root()->activate_object_with_id({1}, servant), CORBA::BAD_PARAM);
  CHECK_THROWS_AS(second.root()->id_to_servant({1}), PortableServer::POA::ObjectNotActive);
}

TEST_CASE("a servant is active once and an id names one object") {
  Adapter adapter;
  adapter.poa->activate_object_with_id({1}, adapter.servant);
  CHECK_THROWS_AS(adapter.poa->activate_object(adapter.servant), PortableServer::POA::ServantAlreadyActive);
  CHECK_THROWS_AS(adapter.poa->activate_object_with_id({1}, CORBA::make_reference<ProbeServant>()),
                  PortableServer::POA::ObjectAlreadyActive);
}

TEST_CASE("ids that are not active are refused") {
  Adapter adapter;
  CHECK_THROWS_AS(adapter.poa->deactivate_object({1}), PortableServer::POA::ObjectNotActive);
  CHECK_THROWS_AS(adapter.poa->id_to_servant({1}), PortableServer::POA::ObjectNotActive);
  CHECK_THROWS_AS(adapter.poa->id_to_reference({1}), PortableServer::POA::ObjectNotActive);
}

TEST_CASE("a nil servant is BAD_PARAM") {
  Adapter adapter;
  CHECK_THROWS_AS(adapter.poa->activate_object(nullptr), CORBA::BAD_PARAM);
}
