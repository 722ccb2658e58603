// Tests how a program prints the text that a peer puts into an exception.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/core/client/client_call.h"
#include "orb/core/exception.h"
#include "orb/giop/contexts.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"

using namespace corelane;

namespace peer_text_test {

// Returns what() of an exception that came with this text.
std::string said_of(const std::string& text) {
  cdr::Writer body, contexts;
  giop::encode_system_exception(body, {ErrorKind::no_permission, Completion::no, 0});
  contexts.write(std::uint32_t{1});
  contexts.write(std::uint32_t{giop::context::exception_detail});
  contexts.write_octets(giop::encode_detail(text));
  cdr::Reader list_reader(contexts.bytes()), body_reader(body.bytes());
  giop::ContextList list;
  REQUIRE(giop::ContextList::read(list_reader, {}, list));
  auto received = core::read_exception(body_reader, list);
  try {
    core::raise(received.error, std::move(received.detail));
  } catch (const core::SystemException& exception) {
    return exception.what();
  }
}

}  // namespace peer_text_test

using peer_text_test::said_of;

TEST_CASE("a peer's text in an exception cannot control a terminal") {
  CHECK_THAT(said_of("'a\x1b[2J\xc2\x9b"
                     "1m\nb\xe2\x80\xae' is another's"),
             Catch::EndsWith("'a?[2J?1m?b?' is another's"));
  CHECK_THAT(said_of("K\xc3\xbchler"), Catch::EndsWith("K\xc3\xbchler"));
}
