// Tests which results ServerRequest takes over until they are sent, and which ones it copies.
#include "orb/core/requests/server_request.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "orb/base/minor.h"

namespace server_request_test {

using namespace corelane;
using core::KeptResult;
using core::ServerRequest;

namespace {

using Octets = std::vector<std::uint8_t>;

// Memory that takes long blocks by reference, like a channel whose peer reads a message while it is sent.
class Referring final : public cdr::MessageMemory {
 public:
  bool refers(std::size_t) noexcept override { return refers_now; }
  MutableBytes lend(std::size_t bytes) noexcept override { return lent_.emplace_back(bytes); }
  bool refers_now = true;

 private:
  std::vector<std::vector<std::byte>> lent_;
};

struct Marshalling {
  Marshalling() {
    writer.clear();
    writer.set_memory(&memory);
  }
  // Returns the whole message, as it is sent.
  Octets message() {
    Octets all;
    for (const Bytes part : writer.parts())
      for (const std::byte byte : part) all.push_back(static_cast<std::uint8_t>(byte));
    return all;
  }

  Referring memory;
  cdr::Writer writer;
  KeptResult kept;
  cdr::Reader arguments;
  ServerRequest request{arguments, writer, &kept};
};

Octets expected_message(std::uint32_t before, const Octets& octets) {
  cdr::Writer writer;
  writer.write(before);
  encode(writer, octets);
  Octets all;
  for (const std::byte byte : writer.bytes()) all.push_back(static_cast<std::uint8_t>(byte));
  return all;
}

const Octets longest(1'000'000, 7);

}  // namespace

TEST_CASE("the last result is sent from where it lies, and kept until then") {
  Marshalling test;
  Octets result = longest;
  const auto* const at = reinterpret_cast<const std::byte*>(result.data());
  test.request.marshal(std::uint32_t{1}, result);
  CHECK(result.empty());
  REQUIRE(test.writer.parts().size() == 2);
  CHECK(test.writer.parts()[1].data() == at);
  CHECK((test.message() == expected_message(1, longest)));
}

TEST_CASE("results that cannot be sent from where they lie stay with their owner") {
  Marshalling test;
  Octets result = longest;
  SECTION("one that does not change") { test.request.marshal(std::uint32_t{1}, std::as_const(result)); }
  SECTION("the peer does not read while it is sent") {
    test.memory.refers_now = false;
    test.request.marshal(std::uint32_t{1}, result);
  }
  SECTION("the message is used only during the upcall") {
    ServerRequest(test.arguments, test.writer).marshal(std::uint32_t{1}, result);
  }
  CHECK((result == longest));
  CHECK(test.writer.parts().size() == 1);
  CHECK((test.message() == expected_message(1, longest)));
}

TEST_CASE("of several long results the last one alone is taken over, if the message is not yet long") {
  Marshalling test;
  Octets first = longest, last = longest;
  test.request.marshal(first, last);
  CHECK((first == longest));
  CHECK((last == longest));
  CHECK(test.writer.ok());
}

TEST_CASE("a result that exceeds the limit stays with its owner") {
  Marshalling test;
  test.writer.set_limit(500'000);
  Octets result = longest;
  test.request.marshal(result);
  CHECK((result == longest));
  REQUIRE_FALSE(test.writer.ok());
  CHECK(test.writer.error().minor == minor::message_too_large);
}

TEST_CASE("a kept result is freed when it is released, replaced, or its holder ends") {
  const auto counted = std::make_shared<int>(1);
  {
    KeptResult kept;
    std::vector<std::shared_ptr<int>> values{counted};
    kept.keep(values);
    CHECK(counted.use_count() == 2);
    kept.release();
    CHECK(counted.use_count() == 1);
    values = {counted};
    kept.keep(values);
    values = {};
    kept.keep(values);
    CHECK(counted.use_count() == 1);
    values = {counted};
    kept.keep(values);
    CHECK(counted.use_count() == 2);
  }
  CHECK(counted.use_count() == 1);
}

}  // namespace server_request_test
