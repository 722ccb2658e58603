// The store in a file: what is in it after its end, and files that are not as they should be.
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "services/nameserver/stores/open_store.h"
#include "services/nameserver/stores/sqlite_database.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/captured_errors.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

std::unique_ptr<Store> sqlite_store(const std::string& path, const StoreOptions& options = {}) {
  auto opened = open_store("sqlite:" + path, options);
  if (!opened) FAIL(opened.error());
  return std::move(*opened);
}

std::string refusal_of(const std::string& path, const StoreOptions& options = {}) {
  const auto opened = open_store("sqlite:" + path, options);
  return opened ? "opened" : opened.error();
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// Without thousands of bytes in the report.
void check_bytes(const std::string& path, const std::string& expected) {
  const bool same = bytes_of_file(path) == expected;
  CHECK(same);
}

void run_sql(const std::string& path, const char* sql) {
  auto database = Database::open(path);
  REQUIRE(database);
  REQUIRE(database->run(sql));
}

// All names of a store, each in a line with what is bound to it.
std::set<std::string> content_of(Store& store) {
  std::vector<ContextId> contexts = store.contexts().value();
  contexts.push_back(root_context);
  std::set<std::string> lines;
  for (const ContextId context : contexts) {
    const std::vector<Entry> entries = store.list(context, nullptr, 1000).value();
    for (const auto& [name, binding] : entries)
      lines.insert(std::to_string(context) + " " + name.id + "." + name.kind + " " + binding.reference + " " +
                   std::to_string(binding.context) + " " + binding.owner);
  }
  return lines;
}

// A store with names in two contexts below the root.
struct Filled {
  explicit Filled(const std::string& path) {
    const auto store = sqlite_store(path);
    line = store->add_context(root_context, {"line", "dir"}).value();
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

// What is there when the file is opened, and what the log says.
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

// The column's value with one byte of it changed, as SQL.
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

// What the child returns is its exit status.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

// In a child whom permissions of files hold, as they do root without his capabilities. It stays the same user, since
// the way to the directory (TMPDIR) may be closed to others.
template <typename Body>
int held_by_permissions(Body&& body) {
  return in_child([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capset, &header, none) != 0 ? 2 : body();
  });
}

}  // namespace

TEST_CASE("a SQLite store keeps the laws of stores") {
  for (const StoreLaw& law : store_laws) DYNAMIC_SECTION(law.sentence) {
      const corelane::testing::TempDirectory directory;
      law.check(*sqlite_store(directory / "names.db"));
    }
}

TEST_CASE("a SQLite store holds what its limits allow") {
  const corelane::testing::TempDirectory directory;
  check_tight_limits(*sqlite_store(directory / "names.db", {.limits = tight_limits}));
}

TEST_CASE("a SQLite store that is opened again has all that it had") {
  const corelane::testing::TempDirectory directory;
  const Binding owned = object_at(std::string("IOR:\0\xff", 6), "anna");
  ContextId context = 0, gone = 0;
  std::uint64_t revision = 0;
  {
    const auto store = sqlite_store(directory / "names.db");
    context = store->add_context(root_context, {"plant", ""}).value();
    gone = store->make_context().value();
    REQUIRE(store->destroy_context(gone));
    REQUIRE(store->add(context, {"a", "k"}, object_at("first")));
    REQUIRE(store->replace(context, {"a", "k"}, owned));
    REQUIRE(store->add(root_context, {"b", ""}, object_at("removed")));
    REQUIRE(store->remove(root_context, {"b", ""}));
    revision = store->status().revision;
  }
  const auto store = sqlite_store(directory / "names.db");
  CHECK(store->contexts().value() == std::vector<ContextId>{context});
  CHECK(store->find(root_context, {"plant", ""}).value() == context_at(context));
  CHECK(store->find(context, {"a", "k"}).value() == owned);
  CHECK(store->owners().value() == std::vector<std::string>{"anna"});
  CHECK(ids_in(*store, root_context) == std::vector<std::string>{"plant."});
  CHECK(store->status().revision == revision);
  CHECK(store->make_context().value() > gone);
}

TEST_CASE("a SQLite store says what it is and where") {
  const corelane::testing::TempDirectory directory;
  const StoreStatus status = sqlite_store(directory / "names.db")->status();
  CHECK(status.kind == "sqlite");
  CHECK(status.place == directory / "names.db");
  CHECK(status.remark.empty());
  CHECK_FALSE(status.stale);
}

TEST_CASE("one process at a time has a SQLite store") {
  const corelane::testing::TempDirectory directory;
  const auto store = sqlite_store(directory / "names.db");
  says(refusal_of(directory / "names.db"), "is in use by another process: stop that nameserver, or name another file");
  const int in_other = in_child([&] { return open_store("sqlite:" + (directory / "names.db")) ? 1 : 0; });
  CHECK(in_other == 0);
  CHECK(store->add(root_context, {"a", ""}, object_at("still served")));
}

TEST_CASE("names that only look special to SQLite are files") {
  const corelane::testing::TempDirectory directory;
  says(refusal_of(""), "needs a file: sqlite:PATH");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  sqlite_store(":memory:");
  std::filesystem::current_path(before);
  CHECK(std::filesystem::exists(directory / ":memory:"));
}

// Error paths.

TEST_CASE("a file that is no database is refused and left as it is") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db", letter(5000, 'x');
  write_file(path, letter);
  says(refusal_of(path), "is damaged or no database");
  says(refusal_of(path), "sqlite3 " + path + " .recover");
  check_bytes(path, letter);
  write_file(path, "x");
  says(refusal_of(path), "is damaged or no database (it is one byte long)");
  check_bytes(path, "x");
}

TEST_CASE("a damaged file is refused, and moved aside when that is asked for") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db";
  {
    const auto store = sqlite_store(path);
    for (int i = 0; i < 300; ++i)
      REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at(std::string(200, 'r'))));
  }
  std::string bytes = bytes_of_file(path);
  REQUIRE(bytes.size() > 40'000);
  for (std::size_t i = 20'000; i < 30'000; ++i) bytes[i] = '\x5a';
  write_file(path, bytes);
  says(refusal_of(path), "is damaged");
  check_bytes(path, bytes);
  for (const char* aside : {".damaged-1", ".damaged-2"}) {
    {
      const auto store = sqlite_store(path, {.move_aside_damaged = true});
      CHECK(ids_in(*store, root_context).empty());
      CHECK(store->add(root_context, {"new", ""}, object_at("x")));
    }
    check_bytes(path + aside, bytes);
    write_file(path, bytes);
  }
}

TEST_CASE("a full disk refuses who writes, loses nothing and lets others read until there is room again") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const auto disk = [&](unsigned long flags, const char* size) {
    return mount("tmpfs", directory.path().c_str(), "tmpfs", flags, size) == 0;
  };
  const int outcome = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        !disk(0, "size=400k"))
      return 77;
    const std::string place = "sqlite:" + (directory / "names.db"), reference(3000, 'r');
    std::size_t bound = 0;
    for (const bool again : {false, true}) {
      const auto opened = open_store(place, {});
      if (!opened) return 1;
      Store& store = **opened;
      if (again && store.list(root_context, nullptr, 1000)->size() != bound) return 2;
      auto done = store.add(root_context, {std::to_string(bound), ""}, object_at(reference));
      for (; done; done = store.add(root_context, {std::to_string(bound), ""}, object_at(reference))) ++bound;
      if (bound == 0 || !fails_with(done, StoreFault::no_space)) return 3;
      if (store.list(root_context, nullptr, 1000)->size() != bound) return 4;
      if (!again) continue;
      if (!disk(MS_REMOUNT, "size=4m")) return 77;
      if (!store.add(root_context, {"last", ""}, object_at(reference))) return 5;
    }
    return 0;
  });
  if (outcome == 77) {
    std::puts("SKIPPED: a small disk of the test's own needs root and a namespace of mounts");
    return;
  }
  CHECK(outcome == 0);
}

TEST_CASE("a damaged file that cannot be moved aside is left as it is with its log") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db", letter(5000, 'x');
  for (const std::string& file : {path, path + "-wal"}) {
    write_file(file, letter);
    std::filesystem::permissions(file, std::filesystem::perms(0666));
  }
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0555));
  const int refused = held_by_permissions([&] {
    const auto opened = open_store("sqlite:" + path, {.move_aside_damaged = true});
    return !opened && opened.error().find("it cannot be moved aside, either") != std::string::npos ? 0 : 1;
  });
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  CHECK(refused == 0);
  check_bytes(path, letter);
  CHECK(std::filesystem::exists(path + "-wal"));
}

TEST_CASE("the log of a damaged file is moved aside with it") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db", letter(5000, 'x');
  write_file(path, letter);
  write_file(path + "-wal", letter);
  write_file(path + ".damaged-1-wal", "another's");
  REQUIRE(sqlite_store(path, {.move_aside_damaged = true})->add(root_context, {"new", ""}, object_at("x")));
  check_bytes(path + ".damaged-2", letter);
  check_bytes(path + ".damaged-1-wal", "another's");
  CHECK(ids_in(*sqlite_store(path), root_context) == std::vector<std::string>{"new."});
}

TEST_CASE("a file that was cut off is refused with the remedy or tells what of it is lost") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string whole = directory / "whole.db", path = directory / "names.db";
  {
    const auto store = sqlite_store(whole);
    for (int i = 0; i < 40; ++i)
      REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at(std::string(200, 'r'))));
  }
  const std::string bytes = bytes_of_file(whole);
  for (std::size_t length = 1; length < bytes.size(); length += length < 128 ? 9 : 397) {
    CAPTURE(length);
    write_file(path, bytes.substr(0, length));
    auto opened = open_store("sqlite:" + path);
    if (!opened) {
      says(opened.error(), path);
      says(opened.error(), "restore it from a copy");
      continue;
    }
    const std::vector<Entry> entries = (*opened)->list(root_context, nullptr, 1000).value();
    for (const Entry& entry : entries) CHECK(entry.binding == object_at(std::string(200, 'r')));
    opened->reset();
    CHECK(entries.size() + Database::open(path)->number("SELECT count(*) FROM quarantine").value() == 40);
  }
}

TEST_CASE("a file with bytes that are not as they were is refused by name or gives what it was given") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string whole = directory / "whole.db", path = directory / "names.db";
  {
    const auto store = sqlite_store(whole);
    for (int i = 0; i < 40; ++i)
      REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at(std::string(200, 'r'))));
  }
  std::minstd_rand random(1);
  for (int round = 0; round < 60; ++round) {
    std::string bytes = bytes_of_file(whole);
    for (int i = 0; i < 12; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    for (int i = 0; i < 2; ++i)
      bytes[random() % 8 * 4096 % bytes.size() + random() % 100] = static_cast<char>(random());
    CAPTURE(round);
    write_file(path, bytes);
    const auto opened = open_store("sqlite:" + path);
    if (opened) {
      const std::vector<Entry> entries = (*opened)->list(root_context, nullptr, 1000).value();
      for (const Entry& entry : entries) CHECK(entry.binding == object_at(std::string(200, 'r')));
    } else {
      says(opened.error(), path);
    }
    std::filesystem::remove(path + "-wal");
  }
}

TEST_CASE("a file of a newer schema is refused and left as it is") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  run_sql(path, "PRAGMA user_version=3");
  const std::string bytes = bytes_of_file(path);
  says(refusal_of(path, {.move_aside_damaged = true}), "was written by a newer Corelane (schema 3, this one knows 2)");
  check_bytes(path, bytes);
}

TEST_CASE("a database of another program is refused") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "songs.db";
  for (const char* sql : {"PRAGMA user_version=4", "CREATE TABLE song(title TEXT)",
                          "PRAGMA application_id=0x434c4e53; PRAGMA user_version=0"}) {
    CAPTURE(sql);
    run_sql(path, sql);
    says(refusal_of(path, {.move_aside_damaged = true}), "is a database of another program");
  }
}

TEST_CASE("a database whose tables somebody has changed is refused") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  run_sql(path, "ALTER TABLE binding RENAME COLUMN owner TO possessor");
  says(refusal_of(path, {.move_aside_damaged = true}), "has tables that are not Corelane's (no such column: ");
}

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
  for (const char* row : strange) run_sql(path, ("INSERT INTO binding VALUES(" + std::string(row) + ",NULL)").c_str());
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
      says(again.told, "Bind them again, or put right and back");
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

TEST_CASE("what somebody puts back by hand without a sum is a name again") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const Filled filled(path);
  run_sql(path, "UPDATE binding SET kind=x'78' WHERE id=CAST('beta' AS BLOB) AND context=0");
  Reopened{path};
  run_sql(path,
          "INSERT INTO binding SELECT context, id, x'6b', type, reference, target, owner, NULL FROM quarantine; DELETE "
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
          "sum; PRAGMA user_version=1");
  const Reopened first(path);
  CHECK(first.content == filled.content);
  CHECK(first.next > filled.last);
  CHECK(first.told.empty());
  CHECK(Database::open(path)->number("PRAGMA user_version").value() == 2);
  run_sql(path, "UPDATE binding SET reference=reference||x'30' WHERE id=CAST('beta' AS BLOB) AND context=0");
  CHECK(Reopened(path).content.size() == filled.content.size() - 1);
}

TEST_CASE("a place where no file can be made is refused with what is missing") {
  const corelane::testing::TempDirectory directory;
  says(refusal_of(directory / "missing/names.db"), "cannot be opened for writing");
  says(refusal_of(directory / "missing/names.db"), "its directory must exist");
  says(refusal_of(directory.path()), "is no plain file: name another one");
  says(refusal_of("/dev/null"), "is no plain file: name another one");
}

TEST_CASE("a file that this user may not write is refused at the start") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0555));
  std::filesystem::permissions(path, std::filesystem::perms(0444));
  const int refused = held_by_permissions([&] {
    const auto opened = open_store("sqlite:" + path);
    return !opened && opened.error().find("cannot be opened for writing: Permission denied") != std::string::npos ? 0
                                                                                                                  : 1;
  });
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  CHECK(refused == 0);
}

TEST_CASE("a file that somebody takes away is written no more until it is back") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db";
  const auto store = sqlite_store(path);
  REQUIRE(store->add(root_context, {"a", ""}, object_at("x")));
  for (const std::string& taken : {path, path + "-wal"}) {
    std::filesystem::rename(taken, taken + ".away");
    CHECK(fails_with(store->add(root_context, {"b", ""}, object_at("x")), StoreFault::unavailable));
    says(store->status().remark, "somebody has removed or replaced " + taken + ", and what is written would be lost");
    write_file(taken, "other");
    CHECK(fails_with(store->add(root_context, {"b", ""}, object_at("x")), StoreFault::unavailable));
    CHECK(store->find(root_context, {"a", ""}));
    check_bytes(taken, "other");
    std::filesystem::rename(taken + ".away", taken);
    CHECK(store->replace(root_context, {"c", ""}, object_at("x")));
    CHECK(store->status().remark.empty());
  }
}

TEST_CASE("a disk without room fails writers and nobody else, until there is room again") {
  const corelane::testing::TempDirectory directory;
  const int went_well = in_child([&] {
    const corelane::testing::Quiet quiet;
    const auto opened = open_store("sqlite:" + (directory / "names.db"));
    if (!opened) return 1;
    Store& store = **opened;
    const rlimit small{200'000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &small);
    int bound = 0;
    while (bound < 1000 && store.add(root_context, {std::to_string(bound), ""}, object_at(std::string(500, 'r'))))
      ++bound;
    if (bound == 0 || bound == 1000) return 2;
    if (store.status().remark.find("names cannot be written to") == std::string::npos) return 3;
    if (store.list(root_context, nullptr, 2000)->size() != static_cast<std::size_t>(bound)) return 4;
    const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &large);
    if (!store.add(root_context, {std::to_string(bound), ""}, object_at("again"))) return 5;
    return store.status().remark.empty() ? 0 : 6;
  });
  CHECK(went_well == 0);
  CHECK(sqlite_store(directory / "names.db")->find(root_context, {"0", ""}));
}
