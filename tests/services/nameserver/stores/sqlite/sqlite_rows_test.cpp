// Rows of a SQLite store that differ from what a nameserver wrote.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

// Returns all names of a store, each in a line with its binding.
std::set<std::string> content_of(Store& store) {
  std::vector<ContextId> contexts = store.contexts().value();
  contexts.push_back(root_context);
  std::set<std::string> lines;
  for (const ContextId context : contexts) {
    const std::vector<Entry> entries = store.list(context, nullptr, 1000).value();
    for (const auto& [name, binding] : entries)
      lines.insert(std::to_string(context) + " " + name.id + "." + name.kind + " " + binding.reference + " " +
                   std::to_string(binding.context) + " " + binding.owner + " " + binding.bound_by);
  }
  return lines;
}

// A store with names in two contexts below the root.
struct Filled {
  // `owned`: two of the names belong to clients. Schema 2 has no owners.
  explicit Filled(const std::string& path, bool owned = false) {
    const auto store = sqlite_store(path);
    line = store->add_context(root_context, {"line", "dir"}, owned ? "user:1" : "").value();
    if (owned) REQUIRE(store->add(line, {"delta", ""}, bound_by("user:2", "IOR:55")));
    for (const char* id : {"alpha", "beta", "gamma"}) {
      REQUIRE(store->add(root_context, {id, "k"}, object_at(std::string("IOR:0123456789") + id, "anna")));
      REQUIRE(store->add(line, {id, "k"}, object_at(std::string("IOR:9876543210") + id, "otto")));
    }
    last = store->make_context().value();
    content = content_of(*store);
  }

  ContextId line = 0, last = 0;
  std::set<std::string> content;
};

// The content when the file is opened again, and what the process logs.
struct Reopened {
  explicit Reopened(const std::string& path) {
    const corelane::testing::CapturedErrors errors;
    const auto store = sqlite_store(path);
    content = content_of(*store);
    next = store->make_context().value();
    revision = store->status().revision;
    told = errors.text();
  }

  std::set<std::string> content;
  ContextId next = 0;
  std::uint64_t revision = 0;
  std::string told;
};

// Returns SQL for the column's value with one byte changed.
std::string changed_blob(const std::string& column, std::minstd_rand& random) {
  const std::string at = "(" + std::to_string(random()) + " % length(" + column + "))";
  const std::string byte = "substr('0123456789abcdef', 1 + " + std::to_string(random()) + " % 16, 1)";
  const std::string made =
      "CAST(substr(" + column + ", 1, " + at + ") || " + byte + " || substr(" + column + ", 2 + " + at + ") AS BLOB)";
  return "CASE WHEN " + made + "=" + column + " THEN " + column + " || x'21' ELSE " + made + " END";
}
std::string changed_number(const std::string& column, std::minstd_rand& random) {
  const std::string bit = std::to_string(1LL << random() % 40);
  return "(" + column + " | " + bit + ") - (" + column + " & " + bit + ")";
}

}  // namespace

TEST_CASE("rows that are no names are kept aside and never found") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  const char* const strange[] = {"0,'b',x'',0,x'78',0,x''",    "0,x'62','',0,x'78',0,x''",
                                 "77,x'62',x'',0,x'78',0,x''", "-1,x'62',x'',0,x'78',0,x''",
                                 "0,x'63',x'',2,x'78',0,x''",  "0,x'64',x'',0,'ior',0,x''",
                                 "0,x'68',x'',0,x'',0,x''",    "0,x'65',x'',0,x'78',0,'al'",
                                 "0,x'66',x'',1,x'',-3,x''",   "'x',x'67',x'',0,x'78',0,x''"};
  for (const char* row : strange)
    run_sql(path, ("INSERT INTO binding VALUES(" + std::string(row) + ",NULL,NULL)").c_str());
  for (int i = 0; i < 2; ++i) {
    const auto store = sqlite_store(path);
    CHECK(ids_in(*store, root_context) == std::vector<std::string>{"a."});
    CHECK(store->contexts()->empty());
    REQUIRE(store->replace(root_context, {"c", ""}, object_at("new")));
    REQUIRE(store->remove(root_context, {"c", ""}));
  }
  auto database = Database::open(path).value();
  CHECK(database.number("SELECT count(*) FROM quarantine").value() == std::size(strange));
  CHECK(database.text("SELECT why FROM quarantine WHERE id=x'63'").value() == "its type is neither 0 nor 1");
  CHECK(database.number("SELECT count(*) FROM binding").value() == 1);
}

TEST_CASE("a changed byte of a name's row is found and told, and the name is not handed out") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  const std::string whole = bytes_of_file(path);
  std::minstd_rand random(1);
  for (const char* column : {"context", "id", "kind", "type", "reference", "target", "owner", "sum"}) {
    const std::string name = column;
    const bool is_number = name == "context" || name == "type" || name == "target" || name == "sum";
    for (int round = 0; round < 12; ++round) {
      CAPTURE(name, round);
      write_file(path, whole);
      const std::string value = is_number ? changed_number(name, random) : changed_blob(name, random);
      const std::string which = std::to_string(random() % 6);
      run_sql(path, ("UPDATE binding SET " + name + "=" + value +
                     " WHERE (context, id) IN (SELECT context, id FROM binding WHERE type=0 ORDER BY 1, 2 LIMIT 1 "
                     "OFFSET " +
                     which + ")")
                        .c_str());
      const Reopened again(path);
      CHECK(again.content.size() == filled.content.size() - 1);
      CHECK(std::includes(filled.content.begin(), filled.content.end(), again.content.begin(), again.content.end()));
      says(again.told, "the name store " + path + " has a row of `binding` that cannot be used, its ");
      says(again.told, "Bind them again, or repair the rows");
      CHECK(Database::open(path)->number("SELECT count(*) FROM quarantine").value() == 1);
    }
  }
}

TEST_CASE("a context whose row has changed is found by the names in it") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  run_sql(path, ("UPDATE context SET id=77 WHERE id=" + std::to_string(filled.line)).c_str());
  const Reopened again(path);
  CHECK(again.content == filled.content);
  says(again.told,
       "has a row of `context` that cannot be used, its bytes are not those that a nameserver wrote: "
       "context 77");
}

TEST_CASE("a counter that has changed or is gone goes on above all that it can have been") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  const std::string whole = bytes_of_file(path);
  const auto revision = Reopened(path).revision;
  for (const char* change :
       {"UPDATE counter SET value=1", "UPDATE counter SET value=value+(1<<61)", "UPDATE counter SET value=-1",
        "UPDATE counter SET name='x'||name", "UPDATE counter SET sum=sum+1", "DELETE FROM counter"}) {
    CAPTURE(change);
    write_file(path, whole);
    run_sql(path, change);
    const Reopened again(path);
    CHECK(again.content == filled.content);
    CHECK(again.next > filled.last);
    CHECK(again.next < std::uint64_t{1} << 60);
    CHECK(again.revision > revision);
    says(again.told, "has lost its counter 'next context'");
    const Reopened once_more(path);
    CHECK(once_more.next == again.next + 1);
    CHECK(once_more.told.empty());
  }
}

TEST_CASE("a row that is put back by hand without a sum is a name again") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  run_sql(path, "UPDATE binding SET kind=x'78' WHERE id=CAST('beta' AS BLOB) AND context=0");
  Reopened{path};
  run_sql(path,
          "INSERT INTO binding SELECT context, id, x'6b', type, reference, target, owner, NULL, bound_by FROM "
          "quarantine; DELETE "
          "FROM quarantine");
  const Reopened again(path);
  CHECK(again.content == filled.content);
  CHECK(again.told.empty());
}

TEST_CASE("a file of schema 1 gets its sums when it is opened") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  run_sql(path,
          "ALTER TABLE context DROP COLUMN sum; ALTER TABLE binding DROP COLUMN sum; ALTER TABLE counter DROP COLUMN "
          "sum; ALTER TABLE binding DROP COLUMN bound_by; ALTER TABLE quarantine DROP COLUMN bound_by; PRAGMA "
          "user_version=1");
  const Reopened first(path);
  CHECK(first.content == filled.content);
  CHECK(first.next > filled.last);
  CHECK(first.told.empty());
  CHECK(Database::open(path)->number("PRAGMA user_version").value() == 3);
  run_sql(path, "UPDATE binding SET reference=reference||x'30' WHERE id=CAST('beta' AS BLOB) AND context=0");
  CHECK(Reopened(path).content.size() == filled.content.size() - 1);
}

TEST_CASE("a file of schema 2 keeps its names and sums, and its names have no owner") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  run_sql(path,
          "ALTER TABLE binding DROP COLUMN bound_by; ALTER TABLE quarantine DROP COLUMN bound_by; PRAGMA "
          "user_version=2");
  const std::string before = bytes_of_file(path);
  const Reopened first(path);
  CHECK(first.content == filled.content);
  CHECK(first.told.empty());
  CHECK(Database::open(path)->number("PRAGMA user_version").value() == 3);
  CHECK(sqlite_store(path)->remove(root_context, {"beta", "k"}, "user:1"));
  write_file(path, before);  // a byte that changed earlier is noticed all the same
  run_sql(path, "UPDATE binding SET reference=reference||x'30' WHERE id=CAST('beta' AS BLOB) AND context=0");
  CHECK(Reopened(path).content.size() == filled.content.size() - 1);
}

TEST_CASE("an owner whose bytes have changed is no owner") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path, true);
  const std::string whole = bytes_of_file(path);
  for (const char* change : {"bound_by=CAST('user:3' AS BLOB)", "bound_by=NULL", "bound_by='user:2'", "bound_by=x''"}) {
    CAPTURE(change);
    write_file(path, whole);
    run_sql(path, ("UPDATE binding SET " + std::string(change) + " WHERE id=CAST('delta' AS BLOB)").c_str());
    CHECK(Reopened(path).content.size() == filled.content.size() - 1);
  }
}
