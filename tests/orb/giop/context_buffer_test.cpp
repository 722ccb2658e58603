#include "orb/giop/context_buffer.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace corelane;
using namespace corelane::giop;

TEST_CASE("a context buffer copies contents, and keeps the order") {
  ContextBuffer buffer;
  std::vector<std::byte> content(3, std::byte{7});
  CHECK(buffer.add(1, content));
  content.assign(3, std::byte{});
  CHECK(buffer.add(2, {}));
  REQUIRE(buffer.all().size() == 2);
  CHECK(buffer.all()[0].id == 1);
  CHECK(buffer.all()[0].data.size() == 3);
  CHECK(buffer.all()[0].data[2] == std::byte{7});
  CHECK(buffer.all()[1].id == 2);
  CHECK(buffer.all()[1].data.empty());
}

TEST_CASE("a context buffer takes as many bytes and contexts as it has room for") {
  ContextBuffer bytes, contexts;
  const std::vector<std::byte> all(ContextBuffer::most_bytes);
  CHECK_FALSE(bytes.add(1, std::vector<std::byte>(ContextBuffer::most_bytes + 1)));
  CHECK(bytes.add(1, all));
  CHECK_FALSE(bytes.add(2, Bytes(all).first(1)));
  CHECK(bytes.add_view({2, all}));
  CHECK(bytes.all().size() == 2);
  for (std::size_t i = 0; i < ContextBuffer::most; ++i) CHECK(contexts.add(1, {}));
  CHECK_FALSE(contexts.add(1, {}));
  CHECK_FALSE(contexts.add_view({1, {}}));
}
