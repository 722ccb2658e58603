// Annotations, mainly the contract of @rt::task.
#include <catch2/catch.hpp>
#include <string>

#include "idl/sema/annotations/task_contract.h"
#include "tests/idl/compile_text.h"

using namespace corelane::idl;
using namespace std::chrono_literals;
using corelane::idl::test::Compiler;
using corelane::idl::test::faults_of;

namespace {

std::string with_task(const std::string& parameters) {
  return "#include <corelane/rt.idl>\ninterface I {\n@rt::task(" + parameters + ") void f(); };";
}

TaskContract contract_of(const std::string& parameters) {
  Compiler compiler;
  compiler.compile(with_task(parameters));
  REQUIRE(compiler.faults() == "");
  return compiler.body<Interface>("I").operations[0].contract.value();
}

}  // namespace

TEST_CASE("a contract is read in full") {
  const TaskContract c = contract_of(
      "period = \"10ms\", deadline = \"8ms\", budget = \"1500us\", jitter = \"500ns\", suspension = \"1ms\", "
      "importance = -3, on_overrun = \"report\", intensity = 25");
  CHECK(c.period == 10ms);
  CHECK(c.deadline == 8ms);
  CHECK(c.budget == 1500us);
  CHECK(c.jitter == 500ns);
  CHECK(c.suspension == 1ms);
  CHECK(c.importance == -3);
  CHECK(c.on_overrun == OverrunPolicy::report);
  CHECK(c.intensity == 25);
  CHECK(c.place.line == 3);
}

TEST_CASE("a contract has defaults") {
  const TaskContract c = contract_of("period = \"10ms\", budget = \"1ms\"");
  CHECK(c.deadline == 10ms);
  CHECK(c.jitter == 1ms);
  CHECK(c.suspension == 0ms);
  CHECK(c.importance == 0);
  CHECK(c.intensity == 0);
  CHECK(c.on_overrun == OverrunPolicy::report);
}

TEST_CASE("a contract in a comment is one") {
  Compiler c;
  c.compile(
      "#include <corelane/rt.idl>\ninterface I {\n  //@rt::task(period=\"1ms\", budget=\"1us\")\n  void f();\n};");
  REQUIRE(c.faults() == "");
  CHECK(c.body<Interface>("I").operations[0].contract->period == 1ms);
}

TEST_CASE("annotations are kept with their values") {
  Compiler c;
  c.compile(
      "@annotation N { string text; long level default 4; };\n@final @N(text = \"a\" \"b\") struct S { @id(3) "
      "@unit(\"m\") long a; };");
  REQUIRE(c.faults() == "");
  const auto& notes = c["S"].annotations;
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].name == "final");
  CHECK(notes[1].name == "N");
  REQUIRE(notes[1].parameters.size() == 2);
  CHECK(notes[1].parameters[0].value == Value{std::string("ab")});
  CHECK(notes[1].parameters[1].value == Value{std::int64_t{4}});  // the default
  const auto& member = c.body<Structure>("S").members[0].annotations;
  CHECK(member[0].parameters[0].value == Value{std::uint64_t{3}});
}

TEST_CASE("the names of one declaration share its annotations") {
  Compiler c;
  c.compile(
      "struct S { @default(1) @key long a, b; };\n@unit(\"m\") typedef long T, U;\n"
      "valuetype V { @default(2) public long a, b; };\ninterface I { @unit(\"m\") attribute long x, y; };");
  REQUIRE(c.faults() == "");
  const auto share = [](const Annotations& one, const Annotations& other) {
    return !one.empty() && &one[0] == &other[0];
  };
  const auto& members = c.body<Structure>("S").members;
  CHECK(share(members[0].annotations, members[1].annotations));
  CHECK(members[1].default_value == Value{std::int64_t{1}});
  CHECK(share(c["T"].annotations, c["U"].annotations));
  const auto& state = c.body<Valuetype>("V").state;
  CHECK(share(state[0].member.annotations, state[1].member.annotations));
  CHECK(state[1].member.default_value == Value{std::int64_t{2}});
  const auto& attributes = c.body<Interface>("I").attributes;
  CHECK(share(attributes[0].annotations, attributes[1].annotations));
}

TEST_CASE("a member with as many annotations as names is taken") {
  constexpr int many = 20'000;
  std::string text = "struct S {\n";
  for (int i = 0; i < many; ++i) text += "@default(" + std::to_string(i) + ")\n";
  text += "long m0";
  for (int i = 1; i < many; ++i) text += ",\nm" + std::to_string(i);
  Compiler c;
  c.compile(text + ";\n};");
  REQUIRE(c.faults() == "");
  const auto& members = c.body<Structure>("S").members;
  REQUIRE(members.size() == many);
  CHECK(members.back().annotations.size() == many);
  CHECK(members.back().default_value == Value{std::int64_t{many - 1}});
}

TEST_CASE("an operation names the resources that it locks and what becomes of overruns") {
  Compiler c;
  c.compile(
      with_task("period = \"10ms\", budget = \"1ms\", on_overrun = \"cancel\") @rt::uses(resource = \"bus/0\", "
                "longest = \"200us\") @rt::uses(longest = \"1ms\", resource = \"log\""));
  REQUIRE(c.faults() == "");
  const auto& contract = *c.body<Interface>("I").operations[0].contract;
  CHECK(contract.on_overrun == OverrunPolicy::cancel);
  REQUIRE(contract.uses.size() == 2);
  CHECK(contract.uses[0].resource == "bus/0");
  CHECK(contract.uses[0].longest == 200us);
  CHECK(contract.uses[1].resource == "log");
}

// Edge cases.

TEST_CASE("the ends of a contract's ranges") {
  CHECK(faults_of(with_task("period = \"3600s\", budget = \"3600s\", jitter = \"0ns\"")) == "");
  CHECK(faults_of(with_task("period = \"10ns\", budget = \"1ns\", jitter = \"9ns\"")) == "");
  CHECK(faults_of(with_task("period = \"10ns\", budget = \"4ns\", suspension = \"6ns\"")) == "");
}

TEST_CASE("durations are digits and a unit") {
  CHECK(parse_duration("0ns") == 0ns);
  CHECK(parse_duration("1500us") == 1500us);
  CHECK(parse_duration("2s") == 2s);
  for (const char* bad :
       {"", "1", "ms", "-1ms", "1.5ms", "1 ms", "1m", "1msx", "99999999999999999999s", "10000000000s"})
    CHECK_FALSE(parse_duration(bad));
  CHECK(spell_duration(1500us) == "1500us");
  CHECK(spell_duration(0ns) == "0ns");
}

TEST_CASE("a duration with a blank or a fraction is told as it is written") {
  CHECK(duration_hint("10 ms") == "; a duration has no blank and no fraction: write \"10ms\"");
  CHECK(duration_hint("1.5ms") == "; a duration has no blank and no fraction: write \"1500us\"");
  for (const char* other :
       {"10ms", "", "10", "1.5ns", "1.2.3ms", "10 min", "1 0 ms", "0.0ms", "0.1234567890s", "99999999999999999999 s"})
    CHECK(duration_hint(other).empty());
}

// Errors.

TEST_CASE("a faulty contract names field and range") {
  struct Case {
    const char* parameters;
    const char* fault;
  };
  const Case c = GENERATE(
      Case{"period = \"2h\", budget = \"1ms\"",
           "3:20: period is `2h`, which is no duration like \"1500us\" (digits, then ns, us, ms or s)"},
      Case{"period = \"0ms\", budget = \"1ms\"", "3:20: period T = 0ns is outside 0 < T <= 1 h"},
      Case{"period = \"3601s\", budget = \"1ms\"", "3:20: period T = 3601s is outside 0 < T <= 1 h"},
      Case{"period = \"1ms\", budget = \"2ms\"", "3:36: budget C = 2ms is outside 0 < C <= D = 1ms"},
      Case{"period = \"1ms\", budget = \"0ns\"", "3:36: budget C = 0ns is outside 0 < C <= D = 1ms"},
      Case{"period = \"1ms\", budget = \"1us\", jitter = \"1ms\"", "3:52: jitter J = 1ms is outside 0 <= J < D = 1ms"},
      Case{"period = \"1ms\", budget = \"1us\", suspension = \"1ms\"",
           "3:56: suspension S = 1ms is outside 0 <= S <= D - C = 999us"},
      Case{"period = \"1ms\", budget = \"1us\", deadline = \"3601s\"",
           "3:54: deadline D = 3601s is outside 0 < D <= 1 h"},
      Case{
          "period = \"1ms\", budget = \"1us\", deadline = \"8ms\"",
          "3:54: deadline D = 8ms and jitter J = 100us span 9 periods, and at most 8 jobs of a task may wait: use T >= "
          "1013us"},
      Case{"period = \"1ms\", budget = \"1us\", on_overrun = \"stop\"",
           "3:56: on_overrun is \"report\", \"demote\" or \"cancel\""},
      Case{"period = \"1ms\", budget = \"1us\", importance = 40000",
           "3:56: 40000 is outside the range of `short` (-32768 to 32767)"},
      Case{"period = 10, budget = \"1us\"", "3:20: expected a value of type `string`, found an integer"},
      Case{"period = \"1ms\"", "3:1: `@rt::task` needs the parameter `budget`"},
      Case{"period = \"1ms\", budget = \"1us\", budjet = \"1us\"",
           "3:43: `@rt::task` has no parameter `budjet`; did you mean `budget`?"},
      Case{"period = \"1ms\", budget = \"1us\", period = \"2ms\"", "3:43: the parameter `period` is given twice"});
  CAPTURE(c.parameters);
  CHECK(faults_of(with_task(c.parameters)) == c.fault);
}

TEST_CASE("faulty uses of resources say what is wrong") {
  struct Case {
    const char* uses;
    const char* fault;
  };
  const std::string four =
      "@rt::uses(resource = \"a\", longest = \"1us\") @rt::uses(resource = \"b\", longest = \"1us\") "
      "@rt::uses(resource = \"c\", longest = \"1us\") @rt::uses(resource = \"d\", longest = \"1us\") ";
  const Case c =
      GENERATE(Case{"@rt::uses(resource = \"bus\", longest = \"2ms\")", "longest L = 2ms is outside 0 < L <= C = 1ms"},
               Case{"@rt::uses(resource = \"bus\", longest = \"0ns\")", "longest L = 0ns is outside 0 < L <= C = 1ms"},
               Case{"@rt::uses(resource = \"bus\", longest = \"soon\")",
                    "longest is `soon`, which is no duration like \"1500us\" (digits, then ns, us, ms or s)"},
               Case{"@rt::uses(resource = \"\", longest = \"1us\")",
                    "a resource's name has 1 to 64 letters, digits and _ . : / -"},
               Case{"@rt::uses(resource = \"the bus\", longest = \"1us\")",
                    "a resource's name has 1 to 64 letters, digits and _ . : / -"},
               Case{"@rt::uses(resource = \"bus\", longest = \"1us\") @rt::uses(resource = \"bus\", longest = \"1us\")",
                    "the resource `bus` is named twice"},
               Case{"@rt::uses(resource = \"bus\")", "`@rt::uses` needs the parameter `longest`"});
  CAPTURE(c.uses);
  const std::string task = "period = \"10ms\", budget = \"1ms\") ";
  CHECK_THAT(faults_of(with_task((task + c.uses).substr(0, (task + c.uses).size() - 1))), Catch::Contains(c.fault));
  CHECK_THAT(faults_of(with_task(task + four + "@rt::uses(resource = \"e\", longest = \"1us\"")),
             Catch::Contains("an operation uses at most four resources"));
  CHECK_THAT(faults_of(with_task("period = \"10ms\", budget = \"1ms\", suspension = \"1ms\") "
                                 "@rt::uses(resource = \"bus\", longest = \"1us\"")),
             Catch::Contains("a task that suspends itself uses no resource"));
  CHECK_THAT(faults_of("#include <corelane/rt.idl>\ninterface I { @rt::uses(resource = \"bus\", longest = \"1us\") "
                       "void f(); };"),
             Catch::Contains("`@rt::uses` needs an `@rt::task` before the same operation"));
}

TEST_CASE("a contract without its include is an error") {
  CHECK(faults_of("interface I { @rt::task(period = \"1ms\", budget = \"1us\") void f(); };") ==
        "1:15: `@rt::task` is declared in <corelane/rt.idl>, which is not included");
}

TEST_CASE("a misspelt annotation of ours is an error") {
  CHECK(faults_of("#include <corelane/rt.idl>\ninterface I { @rt::tsak void f(); };") ==
        "2:15: `@rt::tsak` is not declared; did you mean `@rt::task`?");
}

TEST_CASE("a contract belongs before an operation and once") {
  const std::string task = "@rt::task(period=\"1ms\", budget=\"1us\")";
  CHECK(faults_of("#include <corelane/rt.idl>\n" + task + " struct S { long a; };") ==
        "2:1: `@rt::task` belongs before an operation");
  CHECK(faults_of("#include <corelane/rt.idl>\ninterface I {\n" + task + task + " void f(); };") ==
        "3:38: an operation has one `@rt::task` | 3:1: the first is here");
}

TEST_CASE("an unknown annotation is kept with a warning") {
  CHECK(faults_of("@whatever(x = 1, y = NONE) struct S { long a; };") ==
        "1:1: warning: the annotation `@whatever` is not known and has no effect");
}
