// The copy of etcd's names on the disk: a start while etcd is unreachable.
#include "services/nameserver/stores/etcd/etcd_copy.h"

#include <sys/resource.h>

#include <filesystem>

#include "services/nameserver/stores/etcd/etcd_owned_names.h"
#include "tests/services/nameserver/stores/etcd/etcd_server.h"
#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;
using namespace std::chrono_literals;

namespace etcd_copy_test {
namespace {

constexpr const char* place = "http://10.0.0.1:2379,10.0.0.2:2379/names/";

EtcdEntry entry_at(int number) {
  const std::string text = std::to_string(number);
  return {
      .key = "key " + text, .value = "value " + text, .modified = 10u + static_cast<unsigned>(number), .lease = number};
}

// Returns "key=value modified lease" of each entry, and the revision; "new" if there is no content.
std::string text_of(std::optional<EtcdCopyFile::Content> content) {
  if (!content) return "new";
  std::string text;
  for (const EtcdEntry& entry : content->entries)
    text +=
        entry.key + "=" + entry.value + " " + std::to_string(entry.modified) + " " + std::to_string(entry.lease) + ", ";
  return text + "at " + std::to_string(content->revision);
}

// Returns the content of a copy of the place, or why the copy is not used.
std::string text_in(const std::string& path, const std::string& of = place) {
  auto file = EtcdCopyFile::open(path, of);
  return file ? text_of(file->take_content()) : file.error();
}

void write(const std::string& path, int entries) {
  auto file = EtcdCopyFile::open(path, place);
  REQUIRE(file);
  EtcdCopyNews news{.revision = 99, .seen = 7};
  for (int i = 0; i < entries; ++i) news.entries[entry_at(i).key] = entry_at(i);
  REQUIRE(file->write(news));
}

// Opens a store on that etcd, with the copy.
std::unique_ptr<Store> store_with(const EtcdServer& etcd, const std::string& copy) {
  StoreOptions options = patient();
  options.etcd_copy = copy;
  return etcd_store(etcd.url(), options);
}

}  // namespace

TEST_CASE("a copy has what was written last") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  CHECK(text_in(path) == "new");
  write(path, 2);
  CHECK(text_in(path) == "key 0=value 0 10 0, key 1=value 1 11 1, at 99");
  {
    auto file = EtcdCopyFile::open(path, place);
    EtcdEntry changed = entry_at(1);
    changed.value.clear();
    REQUIRE(file->write(
        {.entries = {{"key 0", std::nullopt}, {"key 1", changed}, {"none", std::nullopt}}, .revision = 100}));
  }
  CHECK(text_in(path) == "key 1= 11 1, at 100");
}

TEST_CASE("a copy of another etcd or prefix begins anew, and one of the same cluster by another member does not") {
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  for (const char* other :
       {"http://10.0.0.3:2379/names/", "http://10.0.0.1:2379/other/", "http://10.0.0.1:2380/names/"}) {
    write(path, 1);
    CAPTURE(other);
    CHECK(text_in(path, other) == "new");
    CHECK(text_in(path) == "new");
    std::filesystem::remove(path);
  }
  write(path, 1);
  CHECK(text_in(path, "http://10.0.0.3:2379,10.0.0.2:2379/names/") == "key 0=value 0 10 0, at 99");
  CHECK(text_in(path, "http://10.0.0.3:2379/names/") == "key 0=value 0 10 0, at 99");
}

TEST_CASE("a copy of which any byte has changed is as it was or not used") {
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  write(path, 100);
  const std::string whole = text_in(path), bytes = bytes_of_file(path);
  REQUIRE(bytes.size() > 8192);
  int dismissed = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 37) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    write_file(path, damaged);
    const std::string found = text_in(path);
    if (found == whole) continue;
    CAPTURE(at, found);
    CHECK((found == "new" || found.find("the copy of names ") == 0));
    ++dismissed;
  }
  CHECK(dismissed > 50);
}

TEST_CASE("a copy of which an entry is missing is not used") {
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  write(path, 3);
  run_sql(path, "DELETE FROM entry WHERE key=CAST('key 1' AS BLOB)");
  CHECK(text_in(path) == "new");
  write(path, 3);
  run_sql(path, "DROP TABLE entry");
  CHECK(text_in(path) == "new");
}

TEST_CASE("a file that is no copy is left as it is") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "other", text(5000, 'x');
  for (const std::string& bytes : {text, std::string("x")}) {
    write_file(path, bytes);
    CHECK(says(text_in(path), "is not used and left as it is"));
    check_bytes(path, bytes);
  }
  std::filesystem::remove(path);
  sqlite_store(path);
  const std::string names = bytes_of_file(path);
  CHECK(says(text_in(path),
             "it is a database of another program): remove it, or name another file with naming.etcd_copy"));
  check_bytes(path, names);
  CHECK(says(text_in(directory.path()), "it is no plain file"));
  CHECK(says(text_in(directory / "none/copy.db"), "its directory must exist"));
}

TEST_CASE("a database of another program is left as it is where the copy should be") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "songs.db", logged = directory / "logged.db";
  run_sql(path, "CREATE TABLE song(title TEXT)");
  run_sql_and_vanish(logged, "CREATE TABLE song(title TEXT)");
  for (const std::string& other : {path, logged}) {
    const std::string bytes = bytes_of_file(other), log = bytes_of_file(other + "-wal");
    CHECK(says(text_in(other), "it is a database of another program"));
    check_bytes(other, bytes);
    check_bytes(other + "-wal", log);
  }
  const std::string begun = directory / "begun.db";
  begin_and_vanish(begun);
  const std::string bytes = bytes_of_file(begun);
  CHECK(says(text_in(begun), "is not used and left as it is (beside it is "));
  check_bytes(begun, bytes);
}

TEST_CASE("that etcd is still followed is written however the date has jumped since then") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  constexpr std::int64_t year_3000 = 32'503'680'000;
  REQUIRE(EtcdCopyFile::open(path, place)->write({.revision = 99, .seen = year_3000}));
  {
    const auto copy = EtcdCopy::open(path, place);
    REQUIRE(copy);
    const auto size = std::filesystem::file_size(path + "-wal");
    copy->confirm();
    until([&] { return std::filesystem::file_size(path + "-wal") > size; });
  }
  CHECK(EtcdCopyFile::open(path, place)->take_content()->seen < year_3000);
}

TEST_CASE("changes that could not be written into the copy are written while etcd is still followed, or at the end") {
  const corelane::testing::TempDirectory directory;
  for (const bool is_followed : {true, false}) {
    const std::string path = directory / (is_followed ? "followed.db" : "ended.db");
    const int written = in_child([&] {
      const corelane::testing::CapturedErrors errors;
      const auto size = [&] { return std::filesystem::file_size(path + "-wal"); };
      auto copy = EtcdCopy::open(path, place);
      if (!copy) return 1;
      auto before = size();
      copy->keep({{.entry = entry_at(0)}}, 98);
      until([&] { return size() > before; });
      const rlimit full{size(), RLIM_INFINITY}, large{RLIM_INFINITY, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &full);
      copy->keep({{.entry = entry_at(1)}}, 99);
      until([&] { return errors.times("cannot be written") == 1; });
      setrlimit(RLIMIT_FSIZE, &large);
      before = size();
      if (is_followed) copy->confirm();
      if (is_followed) until([&] { return size() > before; });
      copy.reset();
      return 0;
    });
    CHECK(written == 0);
    CHECK(text_in(path) == "key 0=value 0 10 0, key 1=value 1 11 1, at 99");
  }
}

TEST_CASE("a copy that another process has is not used") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "copy.db";
  const auto first = EtcdCopyFile::open(path, place);
  REQUIRE(first);
  CHECK(says(text_in(path), "is in use by another process"));
}

TEST_CASE("a store that starts while etcd is away has names as they were, stale, and catches up") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  EtcdServer etcd;
  ContextId plant = 0;
  {
    const auto before = store_with(etcd, directory / "copy.db");
    plant = before->add_context(root_context, {"plant", ""}).value();
    for (const char* name : {"changed", "kept", "removed"}) REQUIRE(before->add(plant, {name, ""}, object_at("1")));
  }
  etcd.kill();
  const auto store = store_with(etcd, directory / "copy.db");
  CHECK(store->status().stale);
  CHECK(store->status().names == 4);
  CHECK_FALSE(store->status().remark.empty());
  CHECK(store->find(root_context, {"plant", ""}).value() == context_at(plant));
  CHECK(ids_in(*store, plant) == std::vector<std::string>{"changed.", "kept.", "removed."});
  CHECK(fails_with(store->add(plant, {"new", ""}, object_at("1")), StoreFault::unavailable));
  CHECK(fails_with(store->remove(plant, {"kept", ""}), StoreFault::unavailable));
  std::mutex mutex;
  std::string told;
  store->on_change([&](const Change& change) {
    const std::lock_guard lock(mutex);
    told += change.name.id + (change.kind == Change::Kind::unbound ? " went, " : " came, ");
  });

  etcd.start();
  {
    const auto other = etcd_store(etcd.url());
    REQUIRE(other->remove(plant, {"removed", ""}));
    REQUIRE(other->replace(plant, {"changed", ""}, object_at("2")));
    until([&] { return !store->status().stale && store->status().revision == other->status().revision; });
  }
  CHECK(ids_in(*store, plant) == std::vector<std::string>{"changed.", "kept."});
  CHECK(reference_at(*store, plant, {"changed", ""}) == "2");
  CHECK(store->add(plant, {"new", ""}, object_at("1")));
  store->on_change({});
  INFO(told);
  CHECK(told.find("removed went, ") != std::string::npos);
  CHECK(told.find("changed came, ") != std::string::npos);
  CHECK(told.find("kept") == std::string::npos);
}

TEST_CASE("a store without a copy does not start while etcd is away, and one of another etcd is none") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  EtcdServer etcd;
  REQUIRE(store_with(etcd, directory / "copy.db")->add(root_context, {"a", ""}, object_at("1")));
  etcd.kill();
  const auto refusal = [&](const std::string& prefix, const std::string& copy) {
    const auto opened = open_store(etcd.url(prefix), {.etcd_patience = 0s, .etcd_copy = copy});
    return opened ? "opened" : opened.error();
  };
  CHECK(says(refusal("", ""), "cannot be opened"));
  CHECK(says(refusal("", directory / "no/such.db"), "cannot be opened"));
  CHECK(refusal("", directory / "copy.db") == "opened");
  CHECK(says(refusal("/another", directory / "copy.db"), "cannot be opened"));
}

TEST_CASE("the owners that a store before had on this host are known while etcd is away and end when it is back") {
  if (lacks_etcd()) return;
  const corelane::testing::Quiet quiet;
  const corelane::testing::TempDirectory directory;
  EtcdServer etcd;
  {
    const auto before = store_with(etcd, directory / "copy.db");
    REQUIRE(before->add(root_context, {"a", ""}, object_at("1", "anna")));
    REQUIRE(before->add(root_context, {"o", ""}, object_at("2", "otto")));
  }
  etcd.kill();
  const auto store = store_with(etcd, directory / "copy.db");
  CHECK(store->owners().value() == std::vector<std::string>{"anna", "otto"});
  CHECK(fails_with(store->remove_owned("anna"), StoreFault::unavailable));
  etcd.start();
  until([&] { return store->remove_owned("anna").has_value(); });
  CHECK(ids_in(*store, root_context) == std::vector<std::string>{"o."});
}

TEST_CASE("a remembered name is bound again if its lease ended, and not if a client removed it") {
  if (lacks_etcd()) return;
  const EtcdServer etcd;
  EtcdClient client({.endpoints = {etcd.endpoint()}, .timeout = 200s});
  EtcdOwnedNames owned(client, 600s);
  const auto lease = client.grant(600s).value(), gone = client.grant(600s).value();
  etcd.post("/v3/lease/revoke", R"({"ID":")" + std::to_string(gone) + R"("})");
  owned.adopt("anna", {"lost", "hers", {}}, gone, 1, EtcdOwnedNames::Known::remembered);
  owned.adopt("otto", {"left", "theirs", {}}, gone, 1, EtcdOwnedNames::Known::remembered);
  owned.adopt("zoe", {"removed", "hers", {}}, lease, 1, EtcdOwnedNames::Known::remembered);
  owned.leave("otto");
  owned.seen_all({}, 1000);
  REQUIRE(owned.keep());
  const auto there = client.range("a", "z", 10).value().entries;
  REQUIRE(there.size() == 1);
  CHECK(there[0].key == "lost");
  CHECK(there[0].lease == owned.lease().value());
  CHECK(owned.owners() == std::vector<std::string>{"anna", "otto"});
}

}  // namespace etcd_copy_test
