// The store in a file: what every store does, and what the file contains after the store's end.
#include <sys/stat.h>

#include <filesystem>

#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

TEST_CASE("a SQLite store keeps the laws of stores") {
  for (const StoreLaw& law : store_laws) DYNAMIC_SECTION(law.sentence) {
      const corelane::testing::TempDirectory directory;
      law.check(*sqlite_store(directory / "names.db"));
    }
}

TEST_CASE("a SQLite store holds what its limits allow") {
  const corelane::testing::TempDirectory directory;
  check_limit_of_client(*sqlite_store(directory / "client.db", {.limits = few_of_a_client()}));
  check_tight_limits(*sqlite_store(directory / "names.db", {.limits = tight_limits}));
  check_loose_contexts(*sqlite_store(directory / "loose.db", {.limits = few_loose}));
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

TEST_CASE("owners of names and what they have outlast the process") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const StoreOptions options{.limits = few_of_a_client()};
  {
    const auto store = sqlite_store(path, options);
    REQUIRE(store->add(root_context, {"a", ""}, bound_by("user:1")));
    REQUIRE(store->add_context(root_context, {"c", ""}, "user:1"));
    REQUIRE(store->add(root_context, {"b", ""}, object_at("x", "a lease")));
  }
  const auto store = sqlite_store(path, options);
  CHECK(fails_with(store->remove(root_context, {"a", ""}, "user:2"), StoreFault::not_owner));
  CHECK(fails_with(store->remove(root_context, {"c", ""}, "user:2"), StoreFault::not_owner));
  CHECK(fails_with(store->add(root_context, {"d", ""}, bound_by("user:1")), StoreFault::client_full));
  CHECK(store->remove(root_context, {"b", ""}, "user:2"));
}

TEST_CASE("names and their log are for the user of the nameserver alone") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db", older = directory / "older.db";
  const auto mode_of = [](const std::string& file) {
    return std::filesystem::status(file).permissions() & std::filesystem::perms::all;
  };
  const auto own = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  const mode_t before = ::umask(0);
  {
    const auto store = sqlite_store(path);
    REQUIRE(store->add(root_context, {"a", ""}, object_at("x")));
    CHECK(mode_of(path) == own);
    CHECK(mode_of(path + "-wal") == own);
  }
  { sqlite_store(older); }
  std::filesystem::permissions(older, std::filesystem::perms::group_read, std::filesystem::perm_options::add);
  REQUIRE(sqlite_store(older)->add(root_context, {"a", ""}, object_at("x")));
  CHECK(mode_of(older) == (own | std::filesystem::perms::group_read));  // the permissions that somebody set stay
  ::umask(before);
}
