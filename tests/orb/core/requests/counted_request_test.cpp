#include "orb/core/requests/counted_request.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

namespace counted_request_test {
namespace {

using namespace corelane;
using core::CountedRequest;
using transport::MemoryAccount;
using transport::MemoryBudget;

constexpr std::size_t mebi = 1024 * 1024;
constexpr std::size_t counted = 2 * mebi - 64 * 1024;  // of 2 MiB: the first bytes of a connection count nowhere

struct Client {
  const std::shared_ptr<MemoryBudget> budget =
      std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(40 * mebi, mebi, std::chrono::hours{1}));
  const std::shared_ptr<MemoryAccount> account = budget->open(1);
};

}  // namespace

TEST_CASE("the bytes of a request are counted until it ends, and once") {
  const Client client;
  CountedRequest request;
  request.add(client.account.get(), 2 * mebi);
  CHECK(client.budget->used() == counted);
  request.end(client.account.get());
  CHECK(client.budget->used() == 0);
  request.end(client.account.get());
  CHECK(client.budget->used() == 0);
}

TEST_CASE("a message is counted once when it becomes complete") {
  const Client client;
  CountedRequest request;
  REQUIRE(client.account->hold_half(2 * mebi));
  request.add_completed(client.account.get(), 2 * mebi);
  REQUIRE(client.account->hold_half(0));
  CHECK(client.budget->used() == counted);
  request.end(client.account.get());
  CHECK(client.budget->used() == 0);
}

TEST_CASE("without an account nothing is counted") {
  CountedRequest request;
  request.add(nullptr, mebi);
  request.begin_run(nullptr);
  request.end(nullptr);
  const Client client;
  request.end(client.account.get());
  CHECK(client.budget->used() == 0);
}

}  // namespace counted_request_test
