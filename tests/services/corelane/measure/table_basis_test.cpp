// Which terms the table has for an operation that was called without its IDL, and that none of them changes without a
// note.
#include "services/corelane/measure/table_basis.h"

#include <catch2/catch.hpp>

#include "services/corelane/measure/measurement.h"

namespace table_basis_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace {
const Contract called = make_contract(20ms, 5ms);
const Contract own = make_contract(20ms, 3ms, 15ms);
}  // namespace

TEST_CASE("a server's own contract is kept but for what was given") {
  const TableBasis kept = basis_of_calls({}, called, {own});
  CHECK(kept.contract == own);
  CHECK(kept.assumed.empty());
  CHECK(kept.note == "period 20ms, deadline 15ms and jitter 1500us as the server has them");
  const TableBasis given = basis_of_calls({.deadline = 10ms, .jitter = 0ms}, called, {own});
  CHECK(given.contract == make_contract(20ms, 3ms, 10ms, 0ms));
  CHECK(given.note == "period 20ms as the server has it");
}

TEST_CASE("defaults in a server's own contract follow the given values") {
  const TableBasis longer = basis_of_calls({.period = 30ms}, called, {called});
  CHECK(longer.contract == make_contract(30ms, 5ms));
  CHECK(longer.note == "deadline 30ms and jitter 3ms by default, as in the server");
  CHECK(basis_of_calls({.deadline = 10ms}, called, {own}).note ==
        "period 20ms as the server has it, jitter 1ms by default, as in the server");
  CHECK(basis_of_calls({.period = 10ms}, called, {own}).contract == make_contract(10ms, 3ms, 15ms));
  CHECK(basis_of_calls({.period = 30ms}, called, {make_contract(20ms, 3ms, 15ms, 7ms)}).contract ==
        make_contract(30ms, 3ms, 15ms, 7ms));
}

TEST_CASE("terms that neither the user nor the server said are told to be assumed") {
  const TableBasis assumed = basis_of_calls({.period = 20ms}, called, {});
  CHECK(assumed.contract == called);
  CHECK(assumed.assumed == std::vector<std::string>{"deadline", "jitter"});
  CHECK(assumed.note ==
        "deadline 20ms and jitter 2ms assumed: the server shows no contract of its own for it, and no IDL was read");
  CHECK(basis_of_calls({}, called, {own, called}).contract == called);
  CHECK_THAT(basis_of_calls({}, called, {own, called}).note, Catch::EndsWith("several contracts for it"));
  CHECK(basis_of_calls({.period = 20ms, .deadline = 20ms, .jitter = 2ms}, called, {}).note.empty());
}

TEST_CASE("a repository id has a version, and what was meant is said") {
  const auto [text, said] = GENERATE(table<std::string, std::string>(
      {{"IDL:Crane/Winch:1.0", ""},
       {"IDL:omg.org/CosNaming/NamingContext:2.13", ""},
       {"RMI:crane.Winch:0123", ""},
       {"IDL:Crane/Winch", "'IDL:Crane/Winch' is a repository id without its version; write IDL:Crane/Winch:1.0"},
       {"IDL:omg.org/X", "'IDL:omg.org/X' is a repository id without its version; write IDL:omg.org/X:1.0"},
       {"Crane::Winch", "'Crane::Winch' is no repository id; write IDL:Crane/Winch:1.0"},
       {"::Crane::Winch", "'::Crane::Winch' is no repository id; write IDL:Crane/Winch:1.0"},
       {"Crane.Winch", "'Crane.Winch' is no repository id; write IDL:Crane/Winch:1.0"},
       {"Crane/Winch:2.1", "'Crane/Winch:2.1' is no repository id; write IDL:Crane/Winch:2.1"},
       {"IDL:Crane::Winch:1.0", "'IDL:Crane::Winch:1.0' is no repository id; write IDL:Crane/Winch:1.0"},
       {"IDL:Crane/Winch:1", "'IDL:Crane/Winch:1' is no repository id; write IDL:Crane/Winch:1.0"},
       {"IDL:Crane/Winch:1.", "'IDL:Crane/Winch:1.' is no repository id; write IDL:Crane/Winch:1.0"},
       {"IDL:", "'IDL:' is a repository id without its version; write IDL:Plant/Controller:1.0"},
       {"IDL:a b:1.0", "'IDL:a b:1.0' is no repository id; write IDL:Plant/Controller:1.0"},
       {"", "'' is no repository id; write IDL:Plant/Controller:1.0"}}));
  CHECK(fault_of_repository_id(text) == said);
}

TEST_CASE("the label of a server's own task is that of its interface") {
  CHECK(label_of("IDL:Plant/Controller:1.0", "step") == "Plant/Controller.step");
  CHECK(repository_id_of(label_of("IDL:Plant/Controller:1.0", "step")) == "IDL:Plant/Controller:1.0");
}

}  // namespace table_basis_test
