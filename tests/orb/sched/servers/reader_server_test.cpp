#include "orb/sched/servers/reader_server.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <variant>

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace reader_server_test {

TEST_CASE("a reader has the server of the kind that was chosen") {
  const Reservation part{100us, 1ms};
  CHECK(std::holds_alternative<SporadicServer>(reader_server(ReaderServer::sporadic, part)));
  const Server io = reader_server(ReaderServer::io, part);
  REQUIRE(std::holds_alternative<IoServer>(io));
  CHECK(std::get<IoServer>(io).share() == 100'000);
}

TEST_CASE("only I/O servers have a release jitter, which is that of one half of the budget") {
  CHECK(reader_jitter(ReaderServer::sporadic, {200us, 1ms}) == 0us);
  CHECK(reader_jitter(ReaderServer::io, {200us, 1ms}) == 900us);
  CHECK(io_interference(100'000, 1ms).jitter == Duration{900us}.count());
}

TEST_CASE("an I/O server needs a share of a millionth for a quarter of the budget") {
  CHECK(can_serve_reader(ReaderServer::io, {4us, 1s}));
  CHECK(!can_serve_reader(ReaderServer::io, {3us, 1s}));
  CHECK(can_serve_reader(ReaderServer::sporadic, {3us, 1s}));
}

}  // namespace reader_server_test
