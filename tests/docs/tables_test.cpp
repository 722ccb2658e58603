// Three documents, and a part of a fourth one, are printed from tables in the code. These tests fail if a table has
// changed and its document has not. Run once with CORELANE_UPDATE_DOCS=1 in the environment to print them anew.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "orb/base/minor.h"
#include "orb/core/settings.h"
#include "orb/eval/report/policy_table.h"
#include "orb/eval/scenario_fields.h"
#include "orb/sim/overheads.h"

namespace {

constexpr std::uint32_t codes = 0x1000;  // a vendor's range of minor codes

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

std::string minor_codes() {
  std::string text =
      "# Minor codes\n\n"
      "Look up the minor code of a system exception here: its cause, and what to do. The first table has\n"
      "Corelane's own codes, the second one the codes of the standard that Corelane raises. This page is\n"
      "generated from `orb/base/minor.cpp`.\n\n"
      "| code | | cause and remedy |\n|---|---|---|\n";
  for (std::uint32_t number = 0; number < codes; ++number)
    if (const auto meaning = corelane::minor::text(corelane::minor::corelane + number); !meaning.empty())
      text += "| " + hexadecimal(corelane::minor::corelane + number) + " | " + std::to_string(number) + " | " +
              std::string(meaning) + " |\n";
  text +=
      "\nA code of the standard (CORBA 3.3 part 1, A.5) has another meaning with each kind of exception.\n"
      "Other codes of the standard have a text of their own in `what()`.\n\n"
      "| exception | code | cause and remedy |\n|---|---|---|\n";
  for (const auto& [kind, entry] : corelane::minor::standard())
    text += "| " + std::string(corelane::name_of(kind)) + " | " + hexadecimal(entry.code) + " | " +
            std::string(entry.text) + " |\n";
  return text;
}

std::string configuration() {
  return R"(# Configuration

After this page you can set any setting of Corelane in three ways, and you know the ten that a new
user meets first. These three do the same:

    build/bin/corelane-quickstart-server -ORBPoolCores 0-1
    CORELANE_POOL_CORES=0-1 build/bin/corelane-quickstart-server
    printf '[pool]\ncores = "0-1"\n' > corelane.toml && build/bin/corelane-quickstart-server

Each logs `info: tasks may run on cores 0-1`. An option comes before a variable, and a variable
before the file. The file is the one that `-ORBConfig` or `CORELANE_CONFIG` names, else
`./corelane.toml`, else `/etc/corelane.toml`. What [`corelane tune`](tune.md) has found for this
host comes behind the file:

```toml
[dispatch]
queue_capacity = 512

[pool]
cores = [0, "2-5"]                  # a list is the text "0,2-5"

[init_ref]
NameService = "corbaloc::names.example:2809/NameService"
```

- **An unknown setting** is an error that names the nearest known one. That holds for options and
  for keys of the file. It also holds for a variable whose name begins as a section's do
  (`CORELANE_POOL_...`), or is a letter or two off. Other variables that begin with `CORELANE_` are
  ignored.
- **A number of bytes** may have a unit of 1024: `64KiB`, `64MiB`, `1GiB`. In a file it is text
  then: `memory = "64MiB"`.
- **The commands of `corelane`** read all this as servers and clients do, from the directory that
  they are started in: `corelane top -ORBConfig plant.toml`,
  `corelane ping REFERENCE -ORBClientWait spin`. Two settings are exceptions: no command uses
  `contracts.file`, and only `plan`, `simulate` and `eval` use `dispatch.slowdowns`.

Four options belong to one start and are not settings:

| option | file | meaning |
|---|---|---|
| `-ORBConfig FILE` | | the configuration file |
| `-ORBid NAME` | | the ORB's name; a second `ORB_init` with the name of an ORB that exists gives that ORB |
| `-ORBInitRef NAME=REFERENCE` | `[init_ref]`, one key for each name | what `resolve_initial_references("NAME")` and `corbaloc:rir:/NAME` give: `IOR:`, `corbaloc:`, `corbaname:` or `file://`; any number of times |
| `-ORBDefaultInitRef REFERENCE` | | where `/NAME` is looked for when nothing else names it, such as `corbaloc::host` ([naming.md](naming.md)) |

The tables are printed from the code. Each component declares its settings in a file whose name
ends in `settings.cpp`.

)" + corelane::core::settings_documentation();
}

std::string scenario() {
  return R"(# Scenario files

After this page you can write the tasks of an experiment into a file, or let them be drawn at
random. `corelane plan`, `corelane simulate` and `corelane eval` read such files
([plan.md](plan.md), [simulation.md](simulation.md), [evaluation.md](evaluation.md)).
[glossary.md](glossary.md#words-of-experiments) explains the words. This file draws 20 sets of eight
tasks for each of four utilizations:

    $ build/bin/corelane plan examples/scenarios/acceptance.toml

A scenario is TOML. Only the tasks are required: `[[task]]`, `[generate]`, or both. Fields that the
file leaves out have the values of a server that you would start in the same directory, with the
same `-ORB` options and environment variables.

- **A duration** is text: a whole number and `ns`, `us`, `ms` or `s`.
- **A part**, such as 0.25, is a number with up to six decimal places. 1 is a whole core, or the
  whole period.
- **A wrong file** is an error with the line, what was expected, and what to change. An unknown
  field is an error that names the nearest known one.
- **Files of other programs** (rt-app, SimSo, np-schedulability-analysis): the commands read them
  instead of a scenario, and `corelane convert` turns them into scenarios
  ([formats.md](formats.md)).
- **A seed** gives the same tasks on every machine. The generators use whole numbers only, and no
  distribution of a standard library. All combinations of a sweep draw from the same numbers, so
  they can be compared pairwise.

**Dispatchers** say how jobs reach the cores ([table](#experiment)). A name means the same in
virtual time ([simulation.md](simulation.md#what-is-simulated)) and in a real run
([evaluation-real.md](evaluation-real.md#what-runs)). `policy.dispatcher` has the names of the
setting `dispatch.mode`, so `manager` there is the dispatcher `mc-orb`.

| command | runs under |
|---|---|
| `corelane eval` | all of `experiment.dispatchers`. Without that list: `policy.dispatcher`, and `mc-orb*` |
| `corelane simulate` | `policy.dispatcher`. Without it: the first one of `experiment.dispatchers` |
| `corelane plan` | `policy.dispatcher`, which must be `manager` or `direct`. Without it: the first one of `experiment.dispatchers` that refuses tasks |

Without both fields, the setting `dispatch.mode` takes the place of `policy.dispatcher`. A file
whose list lacks its `policy.dispatcher` is refused.

An editor that knows JSON schemas of TOML files, such as one with Taplo, completes the fields if the
file begins with this line. `corelane plan --schema` prints the schema.

```toml
#:schema ./scenario.schema.json
```

The tables are printed from `orb/eval/scenario/field_tables.cpp`, `slowdown_fields.cpp` and
`experiment_tables.cpp` there.

)" + corelane::eval::scenario_documentation();
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check(const std::string& name, const std::string& text) {
  const std::string path = CORELANE_DOCS "/" + name;
  if (std::getenv("CORELANE_UPDATE_DOCS") != nullptr) std::ofstream(path) << text;
  CHECK(read(path) == text);
}

// Checks the lines of a document between "<!-- NAME -->" and "<!-- end of NAME -->".
void check_part(const std::string& document, const std::string& name, const std::string& text) {
  const std::string path = CORELANE_DOCS "/" + document, begin = "<!-- " + name + " -->\n\n";
  std::string whole = read(path);
  const std::size_t from = whole.find(begin), to = whole.find("<!-- end of " + name + " -->\n");
  REQUIRE(from != whole.npos);
  REQUIRE(to != whole.npos);
  const std::size_t start = from + begin.size();
  if (std::getenv("CORELANE_UPDATE_DOCS") != nullptr) std::ofstream(path) << whole.replace(start, to - start, text);
  const std::string now = read(path);
  CHECK(now.substr(start, now.find("<!-- end of " + name + " -->\n") - start) == text);
}

}  // namespace

TEST_CASE("the document of minor codes is what the table says") { check("minor-codes.md", minor_codes()); }

TEST_CASE("the document of settings is what the table says") { check("configuration.md", configuration()); }

TEST_CASE("the document of scenarios is what the tables say") { check("scenario.md", scenario()); }

TEST_CASE("the tables of policies in the document of scheduling are what the registries say") {
  check_part("scheduling.md", "policies", corelane::eval::policy_documentation());
}

TEST_CASE("the document of simulations shows a value for each overhead of the table") {
  const std::string text = read(CORELANE_DOCS "/simulation.md");
  for (const corelane::sim::OverheadInfo& info : corelane::sim::overhead_infos)
    CHECK_THAT(text, Catch::Contains("\n" + std::string(info.name) + " = " + std::string(info.example) + " "));
}
