// Functions to read the groups of this process, and to change them for a while.
#pragma once

#include <grp.h>
#include <sys/types.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

namespace corelane::testing {

inline std::vector<gid_t> supplementary_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
  REQUIRE(::getgroups(static_cast<int>(groups.size()), groups.data()) == static_cast<int>(groups.size()));
  return groups;
}

// Returns this process's groups in the form of os::peer_groups().
inline std::vector<gid_t> own_groups() {
  std::vector<gid_t> groups = supplementary_groups();
  groups.insert(groups.begin(), ::getegid());
  return groups;
}

// Gives all threads of this process these supplementary groups until destruction. For root.
class OtherGroups {
 public:
  explicit OtherGroups(const std::vector<gid_t>& groups) : before_(supplementary_groups()) {
    REQUIRE(::setgroups(groups.size(), groups.data()) == 0);
  }
  ~OtherGroups() { ::setgroups(before_.size(), before_.data()); }
  OtherGroups(const OtherGroups&) = delete;
  OtherGroups& operator=(const OtherGroups&) = delete;

 private:
  const std::vector<gid_t> before_;
};

}  // namespace corelane::testing
