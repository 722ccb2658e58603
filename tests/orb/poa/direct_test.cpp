// Tests direct calls: corelane::poa::direct() with objects of Doors, an interface without contracts, and which
// references it refuses.
#include "orb/poa/direct.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::testing;

namespace direct_test {

// interface Door { long knock(in long times); };   written by hand, in the form that the compiler generates
class Door : public virtual ::CORBA::Object {
 public:
  static constexpr const char* _id = "IDL:Doors/Door:1.0";
  explicit Door(const ::corelane::core::StubInit& init) : ::CORBA::Object(init) {}
  std::int32_t knock(std::int32_t times) {
    static constexpr corelane::core::Operation operation{.name = "knock"};
    std::int32_t result{};
    ::corelane::core::Invocation call(*this, operation);
    if (call.try_local(result, times)) return result;
    call.marshal(times);
    call.invoke();
    call.unmarshal(result);
    return result;
  }
};

class DoorSkeleton : public virtual ::PortableServer::ServantBase {
 public:
  virtual std::int32_t knock(std::int32_t times) = 0;
  const ::corelane::core::Skeleton& _skeleton() const noexcept override;
  void* _self() noexcept override { return this; }
};

constexpr corelane::core::Upcall upcalls[] = {{.name = "knock",
                                               .remote =
                                                   [](void* self, corelane::core::ServerRequest& request) {
                                                     std::int32_t times{};
                                                     request.unmarshal(times);
                                                     request.marshal(static_cast<DoorSkeleton*>(self)->knock(times));
                                                   },
                                               .local =
                                                   [](void* self, void* const* frame) {
                                                     *static_cast<std::int32_t*>(frame[0]) =
                                                         static_cast<DoorSkeleton*>(self)->knock(
                                                             *static_cast<const std::int32_t*>(frame[1]));
                                                   }}};
constexpr const char* ids[] = {"IDL:Doors/Door:1.0", "IDL:omg.org/CORBA/Object:1.0"};
constexpr corelane::core::Skeleton skeleton{.ids = ids, .upcalls = upcalls};
const ::corelane::core::Skeleton& DoorSkeleton::_skeleton() const noexcept { return skeleton; }

}  // namespace direct_test

template <>
struct CORBA::servant_traits<direct_test::Door> : corelane::poa::ServantTraits<direct_test::DoorSkeleton> {};

namespace direct_test {

using corelane::poa::direct;

class DoorServant : public DoorSkeleton {
 public:
  std::int32_t knock(std::int32_t times) override {
    if (times < 0) throw std::domain_error("negative");
    knocks += times;
    return knocks;
  }
  std::int32_t knocks = 0;
};

// An adapter with one active object of type Door.
struct Doors {
  explicit Doors(std::vector<std::string> options = {}) : orb(std::move(options)) {
    poa->the_POAManager()->activate();
    id = poa->activate_object(servant);
    reference = door_of(poa->id_to_reference(id));
  }
  static CORBA::object_reference<Door> door_of(const CORBA::object_reference<CORBA::Object>& object) {
    return corelane::core::narrow<Door>(object);
  }

  TestOrb orb;
  CORBA::object_reference<PortableServer::POA> poa = orb.root();
  CORBA::servant_reference<DoorServant> servant = CORBA::make_reference<DoorServant>();
  PortableServer::ObjectId id;
  CORBA::object_reference<Door> reference;
};

// Returns the reason why direct() refuses the reference. It must refuse it.
template <typename Interface>
std::string refusal_of(const CORBA::object_reference<Interface>& reference) {
  try {
    (void)direct(reference);
  } catch (const CORBA::BAD_PARAM& refused) {
    CHECK(refused.minor() == corelane::minor::no_direct_call);
    CHECK(refused.completed() == CORBA::COMPLETED_NO);
    return refused.what();
  }
  return "not refused";
}

TEST_CASE("a direct call is a call of the servant on the caller's thread") {
  Doors doors;
  const auto door = direct(doors.reference);
  CHECK(door->knock(2) == 2);
  CHECK((*door).knock(1) == 3);
  CHECK(doors.reference->knock(1) == 4);
  CHECK(&*door == doors.servant.get());
}

TEST_CASE("a direct call is made whatever the state of the POA's manager is") {
  Doors doors;
  const auto door = direct(doors.reference);
  const auto manager = doors.poa->the_POAManager();
  manager->hold_requests(false);
  CHECK(door->knock(1) == 1);
  manager->discard_requests(true);
  CHECK_THROWS_AS(doors.reference->knock(1), CORBA::TRANSIENT);
  CHECK(door->knock(1) == 2);
  manager->deactivate(false, true);
  CHECK(door->knock(1) == 3);
  CHECK(direct(doors.reference)->knock(1) == 4);
}

TEST_CASE("an exception of the servant reaches a direct caller unchanged") {
  Doors doors;
  const auto door = direct(doors.reference);
  CHECK_THROWS_AS(door->knock(-1), std::domain_error);
  CHECK_THROWS_AS(doors.reference->knock(-1), CORBA::UNKNOWN);
}

TEST_CASE("once the object is not active direct calls raise OBJECT_NOT_EXIST and the servant lives on") {
  Doors doors;
  auto door = direct(doors.reference);
  const auto copy = door;
  std::weak_ptr<DoorServant> watched = doors.servant.shared();
  doors.servant.reset();
  SECTION("by deactivate_object()") { doors.poa->deactivate_object(doors.id); }
  SECTION("by the adapter's destroy()") { doors.poa->destroy(false, true); }
  CHECK_FALSE(door.is_active());
  CHECK_THROWS_AS(door->knock(1), CORBA::OBJECT_NOT_EXIST);
  CHECK_THROWS_AS(copy->knock(1), CORBA::OBJECT_NOT_EXIST);
  door.reset();
  CHECK_FALSE(watched.expired());
}

TEST_CASE("the servant goes with the last direct reference to an object that is not active") {
  Doors doors;
  auto door = direct(doors.reference);
  std::weak_ptr<DoorServant> watched = doors.servant.shared();
  doors.servant.reset();
  doors.poa->deactivate_object(doors.id);
  CHECK_FALSE(watched.expired());
  door.reset();
  CHECK(watched.expired());
}

TEST_CASE("a direct call that runs while its object is deactivated finishes on a living servant") {
  struct Slow : DoorServant {
    std::int32_t knock(std::int32_t times) override {
      begun.store(true);
      begun.notify_all();
      released.wait(false);
      return DoorServant::knock(times);
    }
    std::atomic<bool> begun{false}, released{false};
  };
  Doors doors;
  const auto slow = CORBA::make_reference<Slow>();
  const auto id = doors.poa->activate_object(slow);
  const auto reference = Doors::door_of(doors.poa->id_to_reference(id));
  std::int32_t result = 0;
  std::thread caller([&] { result = direct(reference)->knock(5); });
  slow->begun.wait(false);
  doors.poa->deactivate_object(id);
  doors.poa->destroy(false, true);  // does not wait for the direct call
  slow->released.store(true);
  slow->released.notify_all();
  caller.join();
  CHECK(result == 5);
}

TEST_CASE("an object that was activated again under its id is called directly by the old reference") {
  Doors doors;
  const auto before = direct(doors.reference);
  doors.poa->deactivate_object(doors.id);
  CHECK_THROWS_AS(direct(doors.reference), CORBA::OBJECT_NOT_EXIST);
  doors.poa->activate_object_with_id(doors.id, CORBA::make_reference<DoorServant>());
  CHECK(direct(doors.reference)->knock(7) == 7);
  CHECK_THROWS_AS(before->knock(1), CORBA::OBJECT_NOT_EXIST);
}

TEST_CASE("a direct reference outlives its ORB") {
  auto doors = std::make_unique<Doors>();
  const auto door = direct(doors->reference);
  doors.reset();
  CHECK_THROWS_AS(door->knock(1), CORBA::OBJECT_NOT_EXIST);
}

// Error paths.

TEST_CASE("a nil reference has nothing to call directly") {
  CHECK_THROWS_AS(direct(CORBA::object_reference<Door>{}), CORBA::INV_OBJREF);
  const decltype(direct(CORBA::object_reference<Door>{})) nil;
  CHECK_FALSE(nil);
  CHECK_FALSE(nil.is_active());
  CHECK_THROWS_AS(nil->knock(1), CORBA::INV_OBJREF);
}

TEST_CASE("an object of another ORB is not called directly") {
  Doors doors;
  TestOrb other;
  const auto remote = corelane::core::make_stub<Door>(
      other->string_to_object(doors.orb->object_to_string(doors.reference))->_reference());
  CHECK(remote->knock(1) == 1);
  CHECK(refusal_of(remote).find("another process or to another ORB") != std::string::npos);
}

TEST_CASE("an object with a contract is not called directly, whether by its IDL or by the contracts file") {
  SECTION("by its IDL") {
    ProbeServer server;
    CHECK(refusal_of(server.reference).find("Probing/Probe.paced has a contract") != std::string::npos);
  }
  SECTION("by the contracts file") {
    const TempDirectory directory;
    const std::string path = directory / "contracts.toml";
    std::ofstream(path) << "[\"IDL:Doors/Door:1.0\".knock]\nperiod = \"100ms\"\nbudget = \"1ms\"\n";
    Doors doors({"-ORBContractsFile", path});
    CHECK(refusal_of(doors.reference).find("Doors/Door.knock has a contract") != std::string::npos);
  }
}

TEST_CASE("a reference with a task is not called directly until the task has ended") {
  Doors doors;
  const std::chrono::milliseconds period{100};
  const corelane::Contract contract{.period = period, .deadline = period, .budget = std::chrono::milliseconds{1}};
  {
    const auto task = corelane::rt::admit(doors.reference, {.operation = "knock", .contract = contract});
    REQUIRE(task);
    CHECK(refusal_of(doors.reference).find("the reference has a task") != std::string::npos);
  }
  CHECK(direct(doors.reference)->knock(1) == 1);
}

TEST_CASE("a servant of another interface is not called directly") {
  Doors doors;
  const auto wrong = corelane::core::make_stub<Probing::Probe>(doors.reference->_reference());
  CHECK(refusal_of(wrong).find("IDL:Doors/Door:1.0 and does not implement IDL:Probing/Probe:1.0") != std::string::npos);
}

}  // namespace direct_test
