// The log of a SQLite store that was killed: with changed bytes, and as an ended process or machine leaves it.
#include <algorithm>
#include <filesystem>

#include "tests/services/nameserver/stores/sqlite/sqlite_files.h"
#include "tests/services/nameserver/stores/store_laws.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::nameserver;
using namespace corelane::nameserver::testing;

namespace {

constexpr std::size_t header = 32, frame = 24 + 4096;

// Binds one name. A long reference makes the change several pages long.
std::string sql_that_binds(const std::string& name, int reference_size) {
  return "INSERT INTO binding VALUES(0, CAST('" + name + "' AS BLOB), x'', 0, zeroblob(" +
         std::to_string(reference_size) + "), 0, x'', NULL, NULL);";
}

std::size_t count_of_names(const std::string& path) {
  const auto store = sqlite_store(path);
  return ids_in(*store, root_context).size();
}

std::string flipped(std::string bytes, std::size_t at, int bit) {
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  return bytes;
}

// The files of a store that was killed after it had acknowledged some names.
class KilledStore {
 public:
  explicit KilledStore(int names) {
    const int ended = in_child([&] {
      const auto store = sqlite_store(path());
      for (int i = 0; i < names; ++i)
        if (!store->add(root_context, {std::to_string(i), ""}, object_at(std::string(700, 'r')))) return 1;
      _exit(0);  // nothing is closed
    });
    REQUIRE(ended == 0);
    file_ = bytes_of_file(path());
    log_ = bytes_of_file(log_path());
    REQUIRE(log_.size() > header + 2 * frame);
    REQUIRE(log_.size() % frame == header);
  }

  std::string path() const { return directory_ / "names.db"; }
  std::string log_path() const { return path() + "-wal"; }
  const std::string& log() const { return log_; }
  // Returns the offsets at which its changes end.
  std::vector<std::size_t> ends() const { return ends_in(log_); }
  static std::vector<std::size_t> ends_in(const std::string& log) {
    std::vector<std::size_t> ends;
    for (std::size_t at = header; at + frame <= log.size(); at += frame)
      if (log.compare(at + 4, 4, std::string(4, '\0')) != 0) ends.push_back(at + frame);
    return ends;
  }

  void put(const std::string& log) const {
    write_file(path(), file_);
    write_file(log_path(), log);
  }
  // Returns the log after another program ran SQL on the file and the log, and left them as after a kill.
  std::string log_after(const std::string& sql) {
    put(log_);
    run_sql_and_vanish(path(), "PRAGMA wal_autocheckpoint=0;" + sql);
    file_ = bytes_of_file(path());
    return bytes_of_file(log_path());
  }

  void check_refused(const std::string& log) const {
    put(log);
    const std::string why = testing::refusal_of(path());
    says(why, "is damaged: its log " + log_path() + " is right up to byte ");
    check_bytes(path(), file_);
    check_bytes(log_path(), log);
  }
  std::size_t names_with(const std::string& log) const {
    put(log);
    return count_of_names(path());
  }
  // Returns the number of names with that log, and checks that the incomplete change is reported once.
  std::size_t names_told_incomplete(const std::string& log) const {
    const corelane::testing::CapturedErrors errors;
    const std::size_t names = names_with(log);
    CHECK(errors.times("the last change in the log " + log_path() + " is incomplete") == 1);
    return names;
  }
  std::size_t names_without_a_word(const std::string& log) const {
    const corelane::testing::CapturedErrors errors;
    const std::size_t names = names_with(log);
    CHECK(errors.text() == "");
    return names;
  }

 private:
  corelane::testing::TempDirectory directory_;
  std::string file_, log_;
};

}  // namespace

TEST_CASE("a log whose header has changed by one bit is refused and left as it is") {
  const KilledStore killed(5);
  for (std::size_t at = 0; at < header; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(at, bit);
      killed.check_refused(flipped(killed.log(), at, bit));
    }
}

TEST_CASE("a log in which a bit before its last change has changed is refused and left as it is") {
  const KilledStore killed(5);
  const std::size_t last_change = killed.ends().rbegin()[1];
  for (std::size_t begin = header; begin < last_change; begin += frame)
    for (const std::size_t at : {0u, 3u, 4u, 7u, 8u, 11u, 12u, 15u, 16u, 19u, 20u, 23u, 24u, 1000u, 4119u}) {
      CAPTURE(begin, at);
      killed.check_refused(flipped(killed.log(), begin + at, static_cast<int>(at % 8)));
    }
}

TEST_CASE("a log that has lost its first page is refused") {
  const KilledStore killed(5);
  killed.check_refused(std::string(4096, '\0') + killed.log().substr(4096));
}

TEST_CASE("a damaged log is cut off where its refusal says to go on with the names of before") {
  const corelane::testing::Quiet quiet;
  const KilledStore killed(5);
  const std::vector<std::size_t> ends = killed.ends();
  killed.check_refused(flipped(killed.log(), ends[3] + 100, 0));  // the first change contains no name
  says(refusal_of(killed.path()), "`truncate -s " + std::to_string(ends[3]) + " " + killed.log_path() + "`");
  std::filesystem::resize_file(killed.log_path(), ends[3]);
  CHECK(count_of_names(killed.path()) == 3);
  killed.check_refused(flipped(killed.log(), 20, 0));
  says(refusal_of(killed.path()), "`truncate -s 0 " + killed.log_path() + "`");
  std::filesystem::resize_file(killed.log_path(), 0);
  CHECK(count_of_names(killed.path()) == 0);
}

TEST_CASE("a damaged log is moved aside with its file when that is asked for") {
  const corelane::testing::Quiet quiet;
  const KilledStore killed(5);
  const std::string log = flipped(killed.log(), header + 100, 0);
  killed.check_refused(log);
  CHECK(ids_in(*sqlite_store(killed.path(), {.move_aside_damaged = true}), root_context).empty());
  check_bytes(killed.path() + ".damaged-1-wal", log);
}

TEST_CASE("a bit that changed in the last change of a log loses that alone, and the log of the process says so") {
  const KilledStore killed(5);
  const std::size_t last_change = killed.ends().rbegin()[1];
  for (std::size_t begin = last_change; begin < killed.log().size(); begin += frame)
    for (const std::size_t at : {0u, 9u, 13u, 17u, 21u, 24u, 4000u}) {
      CAPTURE(begin, at);
      CHECK(killed.names_told_incomplete(flipped(killed.log(), begin + at, 3)) == 4);
    }
}

TEST_CASE("a log that ends anywhere has all changes that are whole in it") {
  const corelane::testing::Quiet quiet;
  const KilledStore killed(4);
  const std::vector<std::size_t> ends = killed.ends();
  for (std::size_t begin = 0; begin <= killed.log().size(); begin = begin == 0 ? header : begin + frame)
    for (const int off : {-4073, -4072, -4071, -25, -24, -23, -1, 0, 1, 8, 16, 23, 24, 25, 31}) {
      const std::size_t length = begin + static_cast<std::size_t>(off);
      if (length > killed.log().size()) continue;  // nothing to cut; a negative length wraps around
      CAPTURE(length);
      const auto whole = std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= length; });
      CHECK(killed.names_with(killed.log().substr(0, length)) == static_cast<std::size_t>(std::max(whole - 1l, 0l)));
    }
}

TEST_CASE("any frames of the change under way may be missing from a log") {
  const corelane::testing::Quiet quiet;
  KilledStore killed(3);
  const std::size_t before = killed.log().size();
  const std::string log = killed.log_after(sql_that_binds("long", 16000));
  REQUIRE(log.size() >= before + 5 * frame);
  for (std::size_t missing = 1; missing < 32; ++missing) {
    std::string torn = log;
    for (std::size_t i = 0; before + i * frame < log.size(); ++i)
      if (((missing >> i) & 1) != 0) torn.replace(before + i * frame, frame, std::string(frame, '\0'));
    CAPTURE(missing);
    CHECK(killed.names_with(torn) == 3);
  }
}

TEST_CASE("frames of changes that failed may lie behind the last one in a log") {
  KilledStore killed(3);
  const std::string longest = killed.log_after(sql_that_binds("long", 16000));
  const std::string longer = killed.log_after("BEGIN;" + sql_that_binds("x", 16000) + "DELETE FROM counter;COMMIT;");
  const std::string done = killed.log_after(sql_that_binds("short", 1));
  REQUIRE(KilledStore::ends_in(longest).size() == KilledStore::ends_in(done).size());
  REQUIRE(longest.size() > done.size());
  REQUIRE(longer.size() > done.size());
  CHECK(killed.names_without_a_word(done) == 4);
  CHECK(killed.names_told_incomplete(done + longest.substr(done.size())) == 4);
  const std::string twice = done + longer.substr(done.size(), frame) + longest.substr(done.size() + frame);
  CHECK(killed.names_told_incomplete(twice) == 4);
}

TEST_CASE("a log that has begun anew before frames of its past is taken as far as it goes") {
  KilledStore killed(30);
  const std::string past = killed.log();
  std::string log =
      killed.log_after("PRAGMA wal_checkpoint(RESTART);" + sql_that_binds("a", 1) + sql_that_binds("b", 1));
  REQUIRE(log.size() == past.size());
  REQUIRE(log.substr(0, header) != past.substr(0, header));
  CHECK(killed.names_without_a_word(log) == 32);
  SECTION("a bit in it has changed") {
    for (const std::size_t at : {std::size_t{12}, std::size_t{25}, header + 4, header + 14, header + 20, header + 500})
      killed.check_refused(flipped(log, at, 1));
  }
  SECTION("its header alone has been written, or a part of it") {
    for (std::size_t length = 0; length <= header; ++length) {
      CAPTURE(length);
      CHECK(killed.names_with(log.substr(0, length) + past.substr(length)) == 30);
      CHECK(killed.names_with(past.substr(0, length) + log.substr(length, header - length) + past.substr(header)) ==
            30);
    }
  }
}

TEST_CASE("a log of which a header alone was written holds nothing up") {
  const KilledStore killed(3);
  for (std::size_t length = 0; length <= header; ++length)
    CHECK(killed.names_without_a_word(killed.log().substr(0, length)) == 0);
}
