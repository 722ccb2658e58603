#include "orb/base/settings/setting_values.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/settings/setting.h"

namespace setting_values_test {

using namespace corelane;

namespace {

struct Inner {
  int number = 0;
};
struct Values {
  Inner inner{};
  std::string text{};
};

}  // namespace

TEST_CASE("a setting with choices takes their names and lists them if there is no such choice") {
  int value = 0;
  CHECK(parse::choice("b", value, {{"a", 1}, {"b", 2}, {"c", 3}}) == "");
  CHECK(value == 2);
  CHECK(parse::choice("d", value, {{"a", 1}, {"b", 2}, {"c", 3}}) == "a, b or c");
  CHECK(value == 2);
}

TEST_CASE("a wrong value changes nothing") {
  std::vector<CoreId> cores{CoreId{7}};
  for (const char* wrong : {"", "x", "3-2", ",0", "4096"}) CHECK(parse::cores(wrong, cores) != "");
  CHECK(cores == std::vector{CoreId{7}});
  bool flag = true;
  CHECK(parse::yes_or_no("perhaps", flag) == "on or off");
  CHECK(flag);
}

TEST_CASE("shared settings are compared by a member or by a member of a member") {
  const Values one{.inner = {1}, .text = "a"}, other{.inner = {1}, .text = "b"};
  const SettingTraits<Values> by_number{.same = same<&Values::inner, &Inner::number>};
  const SettingTraits<Values> by_text{.same = same<&Values::text>};
  CHECK(by_number.same(one, other));
  CHECK_FALSE(by_text.same(one, other));
}

}  // namespace setting_values_test
