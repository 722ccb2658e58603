// Tests the log of the program.
#include "orb/os/log.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/system/captured_errors.h"

using namespace corelane;
using testing::CapturedErrors;

TEST_CASE("a line of the log stays one line whatever others wrote into it") {
  const CapturedErrors errors;
  os::log::warn("from afar: a\nerror: b\x1b[2J\x7f");
  CHECK_THAT(errors.text(), Catch::EndsWith("warning: from afar: a?error: b?[2J?\n"));
}

TEST_CASE("an 8-bit control character, or one that reverses text, is shown as a question mark") {
  const CapturedErrors errors;
  // CSI and NEL as UTF-8, CSI as one byte, a line separator, RIGHT-TO-LEFT OVERRIDE and ISOLATE, a right-to-left mark.
  os::log::warn(
      "a\xc2\x9b[2Jb\xc2\x85"
      "c\x9b"
      "d\u2028e\u202ef\u2067g\u200fh");
  CHECK_THAT(errors.text(), Catch::EndsWith("warning: a?[2Jb?c?d?e?f?g?h\n"));
}

TEST_CASE("letters of any script stay as they are, and so do bytes of other encodings") {
  const CapturedErrors errors;
  const std::string text = "K\xc3\xbchler \xe6\xb8\xa9\xe5\xba\xa6 \xf0\x9f\x8c\xa1 \xd7\xa9 caf\xe9, cut \xe6\xb8";
  os::log::warn(text);
  CHECK_THAT(errors.text(), Catch::EndsWith("warning: " + text + "\n"));
}

TEST_CASE("a line below the log's level is not written") {
  const CapturedErrors errors;
  os::log::debug("a\nb");
  CHECK(errors.text().empty());
}
