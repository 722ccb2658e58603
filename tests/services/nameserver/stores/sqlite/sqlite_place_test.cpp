// The place of a SQLite store's file: who may write there, and whether there is space.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

TEST_CASE("a full disk refuses writes, loses nothing and lets clients read until there is room again") {
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

TEST_CASE("a nameserver that was killed on a full disk starts again and finds all names") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const int outcome = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=400k") != 0)
      return 77;
    const std::string path = directory / "names.db", reference(1000, 'r');
    constexpr int bound = 20;
    const int killed = in_child([&] {
      const auto opened = open_store("sqlite:" + path, {});
      for (int i = 0; opened && i < bound; ++i)
        if (!(*opened)->add(root_context, {std::to_string(i), ""}, object_at(reference))) return 1;
      _exit(opened ? 200 : 1);  // nothing is closed
    });
    if (killed != 200) return 1;
    std::FILE* const rest = std::fopen((directory / "rest").c_str(), "wb");  // a file of another program
    std::setbuf(rest, nullptr);
    while (std::fputc('x', rest) != EOF) continue;  // bound: the size of the disk
    std::fclose(rest);
    const auto opened = open_store("sqlite:" + path, {});
    if (!opened) return std::fputs(opened.error().c_str(), stderr), 2;
    Store& store = **opened;
    if (store.list(root_context, nullptr, 1000)->size() != bound) return 3;
    if (store.status().remark.find("names cannot be written to " + path) == std::string::npos) return 4;
    if (!fails_with(store.add(root_context, {"more", ""}, object_at(reference)), StoreFault::no_space)) return 5;
    if (!store.find(root_context, {std::to_string(bound - 1), ""})) return 6;
    std::filesystem::remove(directory / "rest");
    if (!store.add(root_context, {"more", ""}, object_at("x"))) return 7;
    return store.status().remark.empty() ? 0 : 8;
  });
  if (outcome == 77) {
    std::puts("SKIPPED: a small disk of the test's own needs root and a namespace of mounts");
    return;
  }
  CHECK(outcome == 0);
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

TEST_CASE("a file that is taken away is not written until it is back") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db";
  const auto store = sqlite_store(path);
  REQUIRE(store->add(root_context, {"a", ""}, object_at("x")));
  for (const std::string& taken : {path, path + "-wal"}) {
    std::filesystem::rename(taken, taken + ".away");
    CHECK(fails_with(store->add(root_context, {"b", ""}, object_at("x")), StoreFault::unavailable));
    says(store->status().remark, "another program has removed or replaced " + taken + ", so changes would be lost");
    write_file(taken, "other");
    CHECK(fails_with(store->add(root_context, {"b", ""}, object_at("x")), StoreFault::unavailable));
    CHECK(store->find(root_context, {"a", ""}));
    check_bytes(taken, "other");
    std::filesystem::rename(taken + ".away", taken);
    CHECK(store->replace(root_context, {"c", ""}, object_at("x")));
    CHECK(store->status().remark.empty());
  }
}

TEST_CASE("a limit of file sizes refuses writes and ends no process, whenever it is reached") {
  for (const rlim_t limit : {rlim_t{1}, rlim_t{4096}, rlim_t{10'000}, rlim_t{20'000}, rlim_t{40'000}, rlim_t{70'000}}) {
    const corelane::testing::TempDirectory directory;
    const corelane::testing::Quiet quiet;
    const std::string path = directory / "names.db";
    CAPTURE(limit);
    for (int time = 0; time < 3; ++time) {
      const int ended = in_child([&] {
        const rlimit small{limit, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &small);
        auto opened = open_store("sqlite:" + path);
        if (!opened) return opened.error().find("(ulimit -f, quota)") != std::string::npos ? 0 : 1;
        for (int i = 0; i < 50; ++i)
          if (!(*opened)->add(root_context, {std::to_string(100 * time + i), ""}, object_at(std::string(500, 'r'))))
            break;
        opened->reset();
        return 0;
      });
      CHECK(ended == 0);
    }
    const auto store = sqlite_store(path);
    CHECK(store->add(root_context, {"again", ""}, object_at("x")));
  }
}

TEST_CASE("a file that a link leads to has its log beside it, and that does not grow without end") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  const std::string path = directory / "names.db", file = directory / "elsewhere.db", log = file + "-wal";
  std::filesystem::create_symlink(file, path);
  const auto store = sqlite_store(path);
  std::uintmax_t longest = 0;
  for (int i = 0; i < 700; ++i) {
    REQUIRE(store->add(root_context, {std::to_string(i), ""}, object_at(std::string(3000, 'r'))));
    longest = std::max(longest, std::filesystem::file_size(log));
  }
  CHECK(longest > 3u << 20);
  CHECK(longest < 5u << 20);
  std::filesystem::rename(log, log + ".away");
  CHECK(fails_with(store->add(root_context, {"b", ""}, object_at("x")), StoreFault::unavailable));
  says(store->status().remark, "another program has removed or replaced " + log);
  std::filesystem::rename(log + ".away", log);
  CHECK(store->add(root_context, {"b", ""}, object_at("x")));
}

TEST_CASE("a disk without room fails only writers, until there is room again") {
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
    if (store.status().remark.find("names cannot be written to") == std::string::npos ||
        store.status().remark.find("(ulimit -f, quota)") == std::string::npos)
      return 3;
    if (store.list(root_context, nullptr, 2000)->size() != static_cast<std::size_t>(bound)) return 4;
    const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &large);
    if (!store.add(root_context, {std::to_string(bound), ""}, object_at("again"))) return 5;
    return store.status().remark.empty() ? 0 : 6;
  });
  CHECK(went_well == 0);
  CHECK(sqlite_store(directory / "names.db")->find(root_context, {"0", ""}));
}
