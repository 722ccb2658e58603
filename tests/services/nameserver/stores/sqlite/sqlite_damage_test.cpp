// Files that are not a SQLite store, or were damaged.
#include <filesystem>
#include <random>

#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

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
  run_sql(path, "PRAGMA user_version=4");
  const std::string bytes = bytes_of_file(path);
  says(refusal_of(path, {.move_aside_damaged = true}), "was written by a newer Corelane (schema 4, this one knows 3)");
  check_bytes(path, bytes);
}

TEST_CASE("a database of another program is refused and left as it is") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "songs.db";
  for (const char* sql : {"PRAGMA user_version=4", "CREATE TABLE song(title TEXT)",
                          "PRAGMA application_id=0x434c4e53; PRAGMA user_version=0", "PRAGMA journal_mode=WAL"}) {
    CAPTURE(sql);
    run_sql(path, sql);
    const std::string bytes = bytes_of_file(path);
    says(refusal_of(path, {.move_aside_damaged = true}), "is a database of another program");
    check_bytes(path, bytes);
    CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  }
}

TEST_CASE("a database of another program is left as it is with its log") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "songs.db";
  run_sql_and_vanish(path, "CREATE TABLE song(title TEXT); INSERT INTO song VALUES('a');");
  const std::string bytes = bytes_of_file(path), log = bytes_of_file(path + "-wal");
  REQUIRE(log.size() > 4096);
  says(refusal_of(path, {.move_aside_damaged = true}), "is a database of another program");
  check_bytes(path, bytes);
  check_bytes(path + "-wal", log);
}

TEST_CASE("a database in a transaction of another program is left as it is") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "songs.db", names = directory / "names.db";
  begin_and_vanish(path);
  REQUIRE(sqlite_store(names)->add(root_context, {"a", ""}, object_at("x")));
  std::filesystem::copy_file(path + "-journal", names + "-journal");
  for (const std::string& file : {path, names}) {
    const std::string bytes = bytes_of_file(file), journal = bytes_of_file(file + "-journal");
    REQUIRE(journal.size() > 4096);
    says(refusal_of(file, {.move_aside_damaged = true}), "is left as it is: beside it is ");
    check_bytes(file, bytes);
    check_bytes(file + "-journal", journal);
  }
  std::filesystem::remove(names + "-journal");
  CHECK(sqlite_store(names)->find(root_context, {"a", ""}));
}

TEST_CASE("a log of another database beside the names does not get into them") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db", other = directory / "other.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  run_sql_and_vanish(other, "CREATE TABLE song(title TEXT); INSERT INTO song VALUES('a');");
  const std::string bytes = bytes_of_file(path), log = bytes_of_file(other + "-wal");
  write_file(path + "-wal", log);
  says(refusal_of(path), "is a database of another program");
  check_bytes(path, bytes);
  check_bytes(path + "-wal", log);
  std::filesystem::remove(path + "-wal");
  CHECK(sqlite_store(path)->find(root_context, {"a", ""}));
}

TEST_CASE("a file whose log is gone is refused until its log is back or given up") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db", log = path + "-wal";
  for (const int names : {1, 700}) {  // with 700 names, the log was copied into the file and restarted
    std::filesystem::remove(path);
    const int ended = in_child([&] {
      const auto store = sqlite_store(path);
      for (int i = 0; i < names; ++i)
        if (!store->add(root_context, {std::to_string(i), ""}, object_at(std::string(3000, 'r')))) return 1;
      _exit(0);  // nothing is closed
    });
    REQUIRE(ended == 0);
    const std::string bytes = bytes_of_file(path);
    std::filesystem::rename(log, path + ".log");
    for (int i = 0; i < 2; ++i) {
      says(refusal_of(path), "was not closed, and its log " + log + ", which has what was bound last, is gone");
      check_bytes(path, bytes);
      CHECK_FALSE(std::filesystem::exists(log));
    }
    std::filesystem::copy_file(path + ".log", log);
    CHECK(sqlite_store(path)->status().names == static_cast<std::size_t>(names));
    CHECK(sqlite_store(path)->status().names == static_cast<std::size_t>(names));
    write_file(path, bytes);
    write_file(log, "");
    CHECK(sqlite_store(path)->status().names <= static_cast<std::size_t>(names));
    std::filesystem::remove(path + ".log");
  }
}

TEST_CASE("a file whose log another program has put into it is no file whose log is gone") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  const int ended = in_child([&] {
    const auto store = sqlite_store(path);
    if (!store->add(root_context, {"a", ""}, object_at("x"))) return 1;
    _exit(0);  // nothing is closed
  });
  REQUIRE(ended == 0);
  run_sql(path, "SELECT count(*) FROM binding");
  REQUIRE_FALSE(std::filesystem::exists(path + "-wal"));
  CHECK(sqlite_store(path)->find(root_context, {"a", ""}));
}

TEST_CASE("names that are in the log alone are not given up when the file beside it is empty or gone") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db", killed = directory / "killed.db";
  const int ended = in_child([&] {
    const auto store = sqlite_store(killed);
    if (!store->add(root_context, {"a", ""}, object_at("x"))) return 1;
    _exit(0);  // nothing is closed
  });
  REQUIRE(ended == 0);
  const std::string bytes = bytes_of_file(killed), log = bytes_of_file(killed + "-wal");
  REQUIRE(log.size() > 4096);
  for (const bool is_there : {true, false}) {
    write_file(path + "-wal", log);
    if (is_there) write_file(path, "");
    says(refusal_of(path), "is empty or gone, and its log " + path + "-wal is still there");
    check_bytes(path + "-wal", log);
    CHECK(std::filesystem::exists(path) == is_there);
    CHECK(ids_in(*sqlite_store(path, {.move_aside_damaged = true}), root_context).empty());
    const std::string aside = path + (is_there ? ".damaged-1" : ".damaged-2");
    check_bytes(aside + "-wal", log);
    write_file(aside, bytes);
    CHECK(sqlite_store(aside)->find(root_context, {"a", ""}));
    std::filesystem::remove(path);
  }
}

TEST_CASE("a database whose tables somebody has changed is refused") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "names.db";
  REQUIRE(sqlite_store(path)->add(root_context, {"a", ""}, object_at("x")));
  run_sql(path, "ALTER TABLE binding RENAME COLUMN owner TO possessor");
  says(refusal_of(path, {.move_aside_damaged = true}), "has tables that are not Corelane's (no such column: ");
}
