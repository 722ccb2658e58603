// Tests how many cores a quota of CPU time is worth, with files as the kernel writes them.
#include "orb/os/machine/cpu_quota.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/system/temp_directory.h"

namespace cpu_quota_test {

using corelane::os::cores_of_quota;
using corelane::os::quota_of_groups;

namespace {

// The control groups of an imaginary host, below a directory of the test's own.
class Host {
 public:
  std::string path(const std::string& name) const { return directory_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  std::optional<std::size_t> quota() const { return quota_of_groups(path("cgroup"), path("mountinfo")); }

 private:
  corelane::testing::TempDirectory directory_;
};

}  // namespace

TEST_CASE("a quota is worth its whole cores, and one at least") {
  CHECK(cores_of_quota("400000 100000") == 4);
  CHECK(cores_of_quota("399999 100000") == 3);
  CHECK(cores_of_quota("50000 100000") == 1);
  CHECK(cores_of_quota("1000 1000") == 1);
}

TEST_CASE("a text without a quota is none") {
  for (const char* text : {"max 100000", "-1 100000", "", " ", "100000", "100000 ", "100000 0", "0 100000", "4 x"})
    CHECK_FALSE(cores_of_quota(text));
}

TEST_CASE("the smallest quota up to the root counts in version 2") {
  const Host host;
  host.write("mountinfo", "30 1 0:25 / " + host.path("groups") + " rw - cgroup2 cgroup2 rw\n");
  host.write("cgroup", "0::/service/worker\n");
  CHECK_FALSE(host.quota());
  host.write("groups/service/worker/cpu.max", "max 100000\n");
  CHECK_FALSE(host.quota());
  host.write("groups/service/cpu.max", "200000 100000\n");
  CHECK(host.quota() == 2);
  host.write("groups/cpu.max", "800000 100000\n");
  CHECK(host.quota() == 2);
  host.write("groups/service/worker/cpu.max", "150000 100000\n");
  CHECK(host.quota() == 1);
}

TEST_CASE("version 1 has a quota in the hierarchy of its cpu controller") {
  const Host host;
  host.write("mountinfo", "30 1 0:25 / " + host.path("cpuset") + " rw - cgroup cgroup rw,cpuset\n31 1 0:26 / " +
                              host.path("cpu") + " rw - cgroup cgroup rw,cpu,cpuacct\n");
  host.write("cgroup", "3:cpuset:/a\n2:cpu,cpuacct:/a\n0::/a\n");
  host.write("cpuset/a/cpu.cfs_quota_us", "100000\n");
  host.write("cpuset/a/cpu.cfs_period_us", "100000\n");
  host.write("cpu/a/cpu.cfs_quota_us", "-1\n");
  host.write("cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(host.quota());
  host.write("cpu/a/cpu.cfs_quota_us", "300000\n");
  CHECK(host.quota() == 3);
}

TEST_CASE("files that are not there set no quota") {
  const Host host;
  CHECK_FALSE(host.quota());
  host.write("cgroup", "no line of the kernel's\n::\n");
  CHECK_FALSE(host.quota());
}

}  // namespace cpu_quota_test
