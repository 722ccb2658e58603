// Decodes a trace for Perfetto with protoc, by the schema beside this file (perfetto.proto).
#pragma once

#include <cctype>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "orb/os/process/child_process.h"

namespace corelane::testing {

struct DecodedTrace {
  bool good = false;    // protoc could read the trace
  std::string text;     // what it read
  std::string unknown;  // the first line of a field that is not in the schema, or has another type there

  bool has(const std::string& words) const { return text.find(words) != text.npos; }
};

// Returns false if protoc (Debian's protobuf-compiler) is not installed. Then the test is skipped.
inline bool can_decode_traces() {
  if (os::ChildProcess({"sh", "-c", "command -v protoc >/dev/null"}).wait()->ok()) return true;
  std::cout << "SKIPPED: protoc is not installed (apt-get install protobuf-compiler)\n";
  return false;
}

// `path` must not contain a quote.
inline DecodedTrace decode_trace(const std::string& path) {
  const std::string directory = CORELANE_SCHEMAS;
  os::ChildProcess protoc(
      {"sh", "-c",
       "protoc --proto_path='" + directory + "' --decode=Trace '" + directory + "/perfetto.proto' < '" + path + "'"});
  DecodedTrace decoded;
  decoded.text = protoc.read_all().value_or("");
  decoded.good = protoc.wait()->ok();
  std::istringstream lines(decoded.text);
  for (std::string line; decoded.unknown.empty() && std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != line.npos && std::isdigit(static_cast<unsigned char>(line[begin])) != 0) decoded.unknown = line;
  }
  return decoded;
}

}  // namespace corelane::testing
