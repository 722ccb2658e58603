#include "orb/os/machine/host_key.h"

#include <catch2/catch.hpp>

using namespace corelane::os;

TEST_CASE("a measurement is valid for the host that it was made on") {
  CHECK(difference_of(key_of_this_host(), key_of_this_host()).empty());
  CHECK_FALSE(key_of_this_host().kernel.empty());
}

TEST_CASE("the first difference of two hosts is named with both values") {
  const HostKey here{.host = "a", .kernel = "6.1", .processor = "p"};
  CHECK(difference_of({.host = "b", .kernel = "6.2", .processor = "p"}, here) == "on the host 'b', and here it is 'a'");
  CHECK(difference_of({.host = "a", .kernel = "6.2", .processor = "q"}, here) ==
        "under the kernel '6.2', and here it is '6.1'");
  CHECK(difference_of({.host = "a", .kernel = "6.1", .processor = "q"}, here) ==
        "on the processor 'q', and here it is 'p'");
}
