#include "orb/os/machine/mounts.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/system/temp_directory.h"

using namespace corelane::os;

TEST_CASE("a line of mountinfo has what is mounted, where, and its options, whatever stands between") {
  const auto mounts = parse_mounts(
      "20 1 0:5 / /proc rw - proc proc rw\n"
      "31 1 0:27 /a /my\\040groups rw,nosuid shared:9 master:1 - cgroup cgroup rw,cpuset\n");
  REQUIRE(mounts.size() == 2);
  CHECK(mounts[1].root == "/a");
  CHECK(mounts[1].point == "/my groups");
  CHECK(mounts[1].type == "cgroup");
  CHECK(mounts[1].options == "rw,cpuset");
}

TEST_CASE("the usual place, else the shortest, is chosen among several mounts of one hierarchy") {
  const std::string chroot = "47 1 0:27 / /srv/chroot/sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
                    usual = "34 1 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
                    brief = "35 1 0:27 / /dev/cpuset rw - cgroup cgroup rw,cpuset\n",
                    alike = "36 1 0:27 / /sys/fs/cgroups rw - cgroup cgroup rw,cpuset\n",
                    other = "37 1 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
  const auto place = [](const std::string& text) { return cgroup_mount(parse_mounts(text), "cpuset").value().point; };
  CHECK(place(chroot + usual + brief + other) == "/sys/fs/cgroup/cpuset");
  CHECK(place(usual + brief + chroot) == "/sys/fs/cgroup/cpuset");
  CHECK(place(chroot + brief) == "/dev/cpuset");
  CHECK(place(alike + brief) == "/dev/cpuset");
  CHECK(place(chroot) == "/srv/chroot/sys/fs/cgroup/cpuset");
  CHECK_FALSE(cgroup_mount(parse_mounts(other), "cpuset"));
}

TEST_CASE("version 2 is the hierarchy without a controller's name") {
  const auto mounts = parse_mounts(
      "30 1 0:26 / /jail/cgroup rw - cgroup2 cgroup2 rw\n31 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  CHECK(cgroup_mount(mounts, "").value().point == "/sys/fs/cgroup");
  CHECK_FALSE(cgroup_mount(mounts, "cpuset"));
}

TEST_CASE("a group stands below the part of the hierarchy that is mounted") {
  const Mount all{.root = "/", .point = "/c"}, part{.root = "/a", .point = "/c"};
  CHECK(folder_of_group(all, "/a/b") == "/c/a/b");
  CHECK(folder_of_group(all, "/") == "/c");
  CHECK(folder_of_group(part, "/a/b") == "/c/b");
  CHECK(folder_of_group(part, "/a") == "/c");
  CHECK(folder_of_group(part, "/ab") == "/c/ab");
}

TEST_CASE("a word is found as a whole") {
  CHECK(has_word("rw,cpu,cpuacct", "cpu"));
  CHECK(has_word("cpuset cpu", "cpu", ' '));
  CHECK_FALSE(has_word("cpuset,cpuacct", "cpu"));
  CHECK_FALSE(has_word("", "cpu"));
}

// Error paths.

TEST_CASE("a text that is no mountinfo has no mounts") {
  CHECK(parse_mounts("").empty());
  CHECK(parse_mounts("31 1 0:27 / /c rw cgroup cgroup rw\n-\n\n - - -\n").empty());
  corelane::testing::TempDirectory place;
  CHECK(read_mounts(place / "missing").empty());
  std::ofstream(place / "file") << "20 1 0:5 / /proc rw - proc proc rw\n";
  CHECK(read_mounts(place / "file").size() == 1);
}
