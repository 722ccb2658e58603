// async.idl: asynchronous stubs and reply handlers of operations whose names the mapping also uses itself.
#include <catch2/catch.hpp>
#include <concepts>
#include <string>

#include "tests/idl/roundtrip/async_fixture.h"

using namespace corelane::test::async;

namespace {

class Taken : public virtual CORBA::servant_traits<Async::TakenAgain>::base_type {
 public:
  std::int32_t y() override { return 1; }
  void y(std::int32_t) override {}
  std::int32_t get_y(std::int32_t n) override { return n; }
  std::int32_t set_y_excep() override { return 3; }
  std::string sum(std::int32_t& ami_return_val, std::int32_t n) override {
    ami_return_val += n;
    return "sum";
  }
  void ami_get_y(const std::string&) override {}
};

using TakenTraits = CORBA::amic_traits<Async::TakenAgain>;

class TakenHandler : public virtual TakenTraits::replyhandler_base_type {
 public:
  explicit TakenHandler(Mailbox& to) : to_(to) {}
  void get_y(std::int32_t n) override { to_.say("get_y " + std::to_string(n)); }
  void get_y_excep(HolderRef) override {}
  void set_y_excep(std::int32_t n) override { to_.say("set_y_excep " + std::to_string(n)); }
  void set_y_excep_excep(HolderRef) override {}
  void sum(const std::string& ami_ami_return_val, std::int32_t n) override {
    to_.say(ami_ami_return_val + " " + std::to_string(n));
  }
  void sum_excep(HolderRef) override {}
  void ami_get_y(std::int32_t value) override { to_.say("y " + std::to_string(value)); }
  void ami_get_y_excep(HolderRef) override {}
  void set_y() override { to_.say("y is set"); }
  void ami_set_y_excep(HolderRef) override {}
  void ami_ami_get_y() override { to_.say("ami_get_y"); }
  void ami_ami_get_y_excep(HolderRef) override {}

 private:
  Mailbox& to_;
};

class Boilerhouse : public virtual CORBA::servant_traits<Async::Boilerhouse>::base_type {
 public:
  std::string name() override { return "boilerhouse"; }
  std::int32_t open(std::int32_t degrees) override { return degrees; }
};

using HouseTraits = CORBA::amic_traits<Async::Boilerhouse>;

class HouseHandler : public virtual HouseTraits::replyhandler_base_type {
 public:
  explicit HouseHandler(Mailbox& to) : to_(to) {}
  void name(const std::string& value) override { to_.say(value); }
  void name_excep(HolderRef) override {}
  void open(std::int32_t degrees) override { to_.say("open " + std::to_string(degrees)); }
  void open_excep(HolderRef) override {}

 private:
  Mailbox& to_;
};

}  // namespace

TEST_CASE("operations named like those of the implied IDL have asynchronous stubs too") {
  Session session;
  session.machine->sendc_ami_nothing(session.handler);
  CHECK(session.mailbox.hear() == "nothing");
  session.machine->sendc_nothing_excep(session.handler);
  CHECK(session.mailbox.hear() == "nothing_excep");
  session.machine->sendc_sendc_nothing(session.handler);
  CHECK(session.mailbox.hear() == "sendc_nothing");
}

TEST_CASE("an operation named like the accessor of an attribute is called asynchronously beside it") {
  Session session;
  const auto taken = TakenTraits::narrow(session.client.orb->string_to_object(
      session.server.orb->object_to_string(session.server.activate(CORBA::make_reference<Taken>()))));
  const auto handler = TakenTraits::replyhandler_traits::narrow(
      session.client.activate(CORBA::make_reference<TakenHandler>(session.mailbox)));
  taken->sendc_get_y(handler, 7);
  CHECK(session.mailbox.hear() == "get_y 7");
  taken->sendc_ami_get_y(handler);
  CHECK(session.mailbox.hear() == "y 1");
  taken->sendc_ami_ami_get_y(handler, "text");
  CHECK(session.mailbox.hear() == "ami_get_y");
  taken->sendc_set_y_excep(handler);
  CHECK(session.mailbox.hear() == "set_y_excep 3");
  taken->sendc_set_y(handler, 2);
  CHECK(session.mailbox.hear() == "y is set");
  taken->sendc_sum(handler, 4, 5);
  CHECK(session.mailbox.hear() == "sum 9");
}

TEST_CASE("an operation that comes from an abstract interface by two bases is called by its name") {
  Session session;
  const auto reference =
      session.server.orb->object_to_string(session.server.activate(CORBA::make_reference<Boilerhouse>()));
  const auto house = HouseTraits::narrow(session.client.orb->string_to_object(reference));
  const auto handler = HouseTraits::replyhandler_traits::narrow(
      session.client.activate(CORBA::make_reference<HouseHandler>(session.mailbox)));
  CHECK(house->name() == "boilerhouse");
  house->sendc_name(handler);
  CHECK(session.mailbox.hear() == "boilerhouse");
  house->sendc_open(handler, 30);
  CHECK(session.mailbox.hear() == "open 30");
  CORBA::amic_traits<Async::Boiler>::narrow(house)->sendc_name(handler);
  CHECK(session.mailbox.hear() == "boilerhouse");
}

template <typename Stub, typename Handler>
concept SendsBesideAttributes = requires(Stub stub, Handler handler) {
  stub->sendc_ami_get_x(handler);
  stub->sendc_set_x(handler, 1);
  stub->sendc_get_sendc_get_x(handler);
  stub->sendc_ami_f(handler);
  { stub->sendc_get_x() } -> std::same_as<std::int32_t>;
  { stub->sendc_f() } -> std::same_as<std::string>;
};

TEST_CASE("a function that sends has no name of an attribute's functions") {
  using Traits = CORBA::amic_traits<Async::Sender>;
  CHECK(SendsBesideAttributes<Traits::ref_type, Traits::replyhandler_ref_type>);
}
