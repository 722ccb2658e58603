// A SQLite store whose machine loses power. Writes that no sync has covered may be lost.
#include <sqlite3.h>

#include <fstream>
#include <map>
#include <random>

#include "services/nameserver/stores/open_store.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

// A write, or a truncation of the file.
struct Step {
  std::size_t at = 0;
  std::string bytes;
  bool cuts = false;

  void take(std::string& content) const {
    if (cuts || content.size() < at + bytes.size()) content.resize(at + bytes.size());
    content.replace(at, bytes.size(), bytes);
  }
};

// The content of a file that a sync has covered, and the steps since then.
struct WatchedImage {
  std::string synced;
  std::vector<Step> since;

  std::string with(const std::vector<Step>& steps) const {
    std::string content = synced;
    for (const Step& step : steps) step.take(content);
    return content;
  }
};

// A possible state of the files after a loss of power, and the number of names that were acknowledged by then.
struct PowerLoss {
  std::map<std::string, std::string> files{};
  int acknowledged = 0;
};

// Tracks what is safe on the disk below SQLite. Before some steps it simulates a loss of power: none, half or all of
// the writes without a sync survive.
struct WatchedDisk {
  std::map<std::string, WatchedImage> files;
  int acknowledged = 0;
  std::vector<PowerLoss> losses;
  std::minstd_rand random{std::random_device{}()};
  int steps_left = 1;
  int good_syncs = 0;  // one of so many syncs fails; 0: none does

  void lose_now_and_then() {
    if (--steps_left > 0) return;
    steps_left = std::uniform_int_distribution<int>(1, 1000)(random);
    for (const int chances : {0, 1, 2}) {
      PowerLoss loss{.acknowledged = acknowledged};
      for (const auto& [path, image] : files) {
        std::vector<Step> kept;
        for (const Step& step : image.since)
          if (chances == 2 || (chances == 1 && random() % 2 == 0)) kept.push_back(step);
        loss.files[path] = image.with(kept);
      }
      losses.push_back(std::move(loss));
    }
  }
  void write(const char* path, Step step) {
    lose_now_and_then();
    files[path].since.push_back(std::move(step));
  }
  bool fails_now() { return good_syncs > 0 && std::uniform_int_distribution<int>(0, good_syncs)(random) == 0; }
  void sync(const char* path) {
    WatchedImage& image = files[path];
    for (const Step& step : image.since) step.take(image.synced);
    image.since.clear();
  }
};
WatchedDisk* watched_disk = nullptr;

struct WatchedFile {
  sqlite3_file base;
  const char* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

WatchedFile& watched(sqlite3_file* file) { return *reinterpret_cast<WatchedFile*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return watched(file).real(); }
const sqlite3_io_methods& methods_of(sqlite3_file* file) { return *real_of(file)->pMethods; }

const sqlite3_io_methods watching{
    .iVersion = 1,  // no memory that is shared with other processes
    .xClose = [](sqlite3_file* f) { return methods_of(f).xClose(real_of(f)); },
    .xRead = [](sqlite3_file* f, void* to, int size,
                sqlite3_int64 at) { return methods_of(f).xRead(real_of(f), to, size, at); },
    .xWrite =
        [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
          std::string bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
          watched_disk->write(watched(f).path, {.at = static_cast<std::size_t>(at), .bytes = std::move(bytes)});
          return methods_of(f).xWrite(real_of(f), from, size, at);
        },
    .xTruncate =
        [](sqlite3_file* f, sqlite3_int64 size) {
          watched_disk->write(watched(f).path, {.at = static_cast<std::size_t>(size), .bytes = {}, .cuts = true});
          return methods_of(f).xTruncate(real_of(f), size);
        },
    .xSync =
        [](sqlite3_file* f, int flags) {
          watched_disk->lose_now_and_then();
          if (watched_disk->fails_now()) return SQLITE_IOERR_FSYNC;
          const int code = methods_of(f).xSync(real_of(f), flags);
          watched_disk->sync(watched(f).path);
          return code;
        },
    .xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return methods_of(f).xFileSize(real_of(f), size); },
    .xLock = [](sqlite3_file* f, int lock) { return methods_of(f).xLock(real_of(f), lock); },
    .xUnlock = [](sqlite3_file* f, int lock) { return methods_of(f).xUnlock(real_of(f), lock); },
    .xCheckReservedLock = [](sqlite3_file* f, int* is) { return methods_of(f).xCheckReservedLock(real_of(f), is); },
    .xFileControl = [](sqlite3_file* f, int what,
                       void* value) { return methods_of(f).xFileControl(real_of(f), what, value); },
    .xSectorSize = [](sqlite3_file* f) { return methods_of(f).xSectorSize(real_of(f)); },
    .xDeviceCharacteristics = [](sqlite3_file* f) { return methods_of(f).xDeviceCharacteristics(real_of(f)); },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// While this lives, SQLite opens its files on the watched disk.
class WatchedSystem {
 public:
  explicit WatchedSystem(WatchedDisk& disk) : system_(*real_system()) {
    watched_disk = &disk;
    system_.zName = "watched";
    system_.szOsFile += static_cast<int>(sizeof(WatchedFile));
    system_.xOpen = [](sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out) {
      watched(file).path = path;  // SQLite keeps the text as long as the file is open
      watched(file).base.pMethods = nullptr;
      const int code = real_system()->xOpen(real_system(), path, real_of(file), flags, out);
      if (code == SQLITE_OK) watched(file).base.pMethods = &watching;
      return code;
    };
    system_.xDelete = [](sqlite3_vfs*, const char* path, int syncs_directory) {
      const int code = real_system()->xDelete(real_system(), path, syncs_directory);
      if (syncs_directory != 0) watched_disk->files.erase(path);  // otherwise it may come back
      return code;
    };
    sqlite3_vfs_register(&system_, 1);
  }
  WatchedSystem(const WatchedSystem&) = delete;
  WatchedSystem& operator=(const WatchedSystem&) = delete;
  ~WatchedSystem() {
    sqlite3_vfs_unregister(&system_);
    watched_disk = nullptr;
  }

 private:
  static sqlite3_vfs* real_system() {
    static sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);
    return real;
  }

  sqlite3_vfs system_;
};

NameComponent name_number(int number) { return {std::to_string(number), ""}; }

// Returns how many names a store finds on that disk. They must be the first ones, and no others.
int names_after(const PowerLoss& loss) {
  const corelane::testing::TempDirectory directory;
  for (const auto& [path, content] : loss.files)
    std::ofstream(directory / std::filesystem::path(path).filename(), std::ios::binary) << content;
  const auto store = open_store("sqlite:" + (directory / "names.db"));
  if (!store) FAIL(store.error());
  int number = 0;
  while ((*store)->find(root_context, name_number(number))) ++number;
  CHECK((*store)->list(root_context, nullptr, 10'000)->size() == static_cast<std::size_t>(number));
  return number;
}

// Checks that every acknowledged name exists, and at most the change under way in addition.
void check_losses(const WatchedDisk& disk) {
  REQUIRE(disk.losses.size() > 9);
  for (const PowerLoss& loss : disk.losses) {
    const int names = names_after(loss);
    CHECK(names >= loss.acknowledged);
    CHECK(names <= loss.acknowledged + 1);
  }
}

}  // namespace

TEST_CASE("changes that a SQLite store has acknowledged survive a loss of power at any point") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  WatchedDisk disk;
  {
    const WatchedSystem system(disk);
    const auto store = open_store("sqlite:" + (directory / "names.db")).value();
    for (; disk.acknowledged < 700; ++disk.acknowledged)  // more than one checkpoint of the log
      REQUIRE(store->add(root_context, name_number(disk.acknowledged), object_at(std::string(300, 'r'))));
  }
  check_losses(disk);
}

TEST_CASE("changes that a SQLite store has acknowledged survive a loss of power after a failure of the disk") {
  const corelane::testing::TempDirectory directory;
  const corelane::testing::Quiet quiet;
  WatchedDisk disk;
  {
    const WatchedSystem system(disk);
    const auto store = open_store("sqlite:" + (directory / "names.db")).value();
    disk.good_syncs = 2;
    for (int tries = 0; tries < 600; ++tries) {  // long changes that fail, and short ones that overwrite them
      const auto pages = std::uniform_int_distribution<std::size_t>(0, 4)(disk.random);
      const Binding binding = object_at(std::string(300 + 4096 * pages, 'r'));
      if (store->add(root_context, name_number(disk.acknowledged), binding)) ++disk.acknowledged;
    }
  }
  REQUIRE(disk.acknowledged > 99);
  check_losses(disk);
}
