// Tests the partition of a cpuset (cgroup v1) into domains, on files that look like the kernel's.
#include "orb/os/machine/core_domain.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "orb/os/threads/deadline_class.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::os;

namespace {

// A process in the cpuset /ours, which has the cores 1 to 3. It is exclusive, and its parent does not balance load.
class CpusetFiles {
 public:
  CpusetFiles() {
    std::filesystem::create_directories(ours());
    put("cpuset/cpuset.sched_load_balance", "0");
    put("cpuset/ours/cpuset.sched_load_balance", "1");
    put("cpuset/ours/cpuset.cpu_exclusive", "1");
    put("cpuset/ours/cpuset.cpus", "1-3");
    put("cpuset/ours/cpuset.mems", "0");
    put("cgroup", "9:name=systemd:/\n3:cpuset:/ours\n0::/\n");
    put("mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n31 1 0:27 / " + (directory / "cpuset") +
                         " rw,nosuid shared:9 - cgroup cpuset rw,cpuset\n");
  }
  std::string ours() const { return directory / "cpuset/ours"; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(directory / name) << text; }
  std::string get(const std::string& name) const {
    std::ifstream in(ours() + "/" + name);
    std::string line;
    std::getline(in, line);
    return line;
  }
  Expected<CoreDomain, std::string> part(const std::vector<CoreId>& cores) const {
    return CoreDomain::part(cores, directory / "cgroup", directory / "mountinfo");
  }

  testing::TempDirectory directory;
};

}  // namespace

TEST_CASE("a parted cpuset has a child for each core and one for the rest, and does not balance over them") {
  const CpusetFiles files;
  const auto domain = files.part({CoreId{2}});
  REQUIRE(domain);
  CHECK(files.get("corelane-core-2/cpuset.cpus") == "2");
  CHECK(files.get("corelane-core-2/cpuset.mems") == "0");
  CHECK(files.get("corelane-rest/cpuset.cpus") == "1,3");
  CHECK(files.get("cpuset.sched_load_balance") == "0");
}

TEST_CASE("a cpuset balances again when the parting ends") {
  const CpusetFiles files;
  std::optional<CoreDomain> domain;
  {
    auto parted = files.part({CoreId{3}});
    REQUIRE(parted);
    domain = *std::move(parted);
  }
  CHECK(files.get("cpuset.sched_load_balance") == "0");
  domain.reset();
  CHECK(files.get("cpuset.sched_load_balance") == "1");
}

TEST_CASE("a cpuset is found below what is mounted, whatever the names are") {
  struct Row {
    const char* name;
    const char* folder;
    const char* root;
    const char* point;
    const char* group;
  };
  const Row rows[] = {
      {"the mount shows a part of the hierarchy", "cpuset", "/a", "cpuset", "/a/ours"},
      {"the name of another begins alike", "cpuset", "/ou", "cpuset", "/ours"},
      {"a blank is in the folder's name", "cpu set", "/", "cpu\\040set", "/ours"},
      {"a backslash is in the folder's name", "cpu\\set", "/", "cpu\\134set", "/ours"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const CpusetFiles files;
    std::filesystem::rename(files.directory / "cpuset", files.directory / row.folder);
    files.put("cgroup", "3:cpuset:" + std::string(row.group) + "\n");
    files.put("mountinfo", "31 1 0:27 " + std::string(row.root) + " " + (files.directory / row.point) +
                               " rw - cgroup cpuset rw,cpuset\n");
    const auto domain = files.part({CoreId{2}});
    CHECK((domain ? "" : domain.error()) == "");
  }
}

TEST_CASE("the reason why a cpuset cannot be parted is given") {
  CpusetFiles files;
  struct Row {
    const char* name;
    const char* text;
    const char* fault;
  };
  const Row rows[] = {
      {"cgroup", "3:cpuset:/\n", "no cpuset of its own"},
      {"cgroup", "0::/ours\n", "not mounted"},
      {"mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n", "not mounted"},
      {"cpuset/cpuset.sched_load_balance", "1", "balances"},
      {"cpuset/ours/cpuset.cpu_exclusive", "0", "not exclusive"},
      {"cpuset/ours/cpuset.cpus", "0-1", "lacks"},
      {"cpuset/ours/cpuset.cpus", "2-x", "no list"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name, row.text);
    const CpusetFiles fresh;
    fresh.put(row.name, row.text);
    const auto domain = fresh.part({CoreId{2}});
    REQUIRE_FALSE(domain);
    CHECK(domain.error().find(row.fault) != std::string::npos);
  }
}

TEST_CASE("a share that the kernel would not take is refused before it is asked") {
  using std::chrono::milliseconds;
  CHECK(enter_deadline_class(0, {Duration{1023}, milliseconds{1}}) == DeadlineRefusal::range);
  CHECK(enter_deadline_class(0, {milliseconds{2}, milliseconds{1}}) == DeadlineRefusal::range);
  CHECK(enter_deadline_class(0, {}) == DeadlineRefusal::range);
}
