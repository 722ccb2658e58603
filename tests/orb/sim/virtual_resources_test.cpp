#include "orb/sim/virtual_resources.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::sim;

namespace virtual_resources_test {
namespace {

constexpr ResourceId resource{7};
constexpr CoreId core{2};
constexpr JobId first{1}, second{2};

}  // namespace

TEST_CASE("a job that locks a resource has its ceiling") {
  VirtualResources resources;
  CHECK_FALSE(resources.set_ceiling(resource, Priority{40}, core));
  CHECK(resources.lock(resource, first) == Priority{40});
  CHECK(resources.set_ceiling(resource, Priority{41}, core) == first);
  resources.unlock(resource);
  CHECK_FALSE(resources.set_ceiling(resource, Priority{42}, core));
}

TEST_CASE("a job that finds its resource locked is counted") {
  VirtualResources resources;
  (void)resources.lock(resource, first);
  CHECK(resources.collisions() == 0);
  (void)resources.lock(resource, second);
  CHECK(resources.collisions() == 1);
  resources.unlock(resource);
  (void)resources.lock(resource, first);
  CHECK(resources.collisions() == 1);
}

TEST_CASE("a job that ends inside its section gives the resource back") {
  VirtualResources resources;
  resources.end_job(resource, first);
  (void)resources.lock(resource, first);
  SECTION("another job ends") {
    resources.end_job(resource, second);
    CHECK(resources.set_ceiling(resource, Priority{40}, core) == first);
  }
  SECTION("it ends") {
    resources.end_job(resource, first);
    CHECK_FALSE(resources.set_ceiling(resource, Priority{40}, core));
  }
}

TEST_CASE("jobs of a lost core hold no resource") {
  VirtualResources resources;
  (void)resources.set_ceiling(resource, Priority{40}, core);
  (void)resources.lock(resource, first);
  resources.lose_core(CoreId{3});
  CHECK(resources.set_ceiling(resource, Priority{40}, core) == first);
  resources.lose_core(core);
  CHECK_FALSE(resources.set_ceiling(resource, Priority{40}, core));
}

}  // namespace virtual_resources_test
