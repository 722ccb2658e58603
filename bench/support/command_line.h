// The command line of a benchmark.
#pragma once

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <optional>

namespace bench_support {

// What the program is to end with: 0 after --help, 2 after an unknown option or a value that does not fit, which has
// been said. None: it goes on.
//
// What ORBs have to say from info on stays out of the tables of this program and those that it starts, unless
// CORELANE_LOG_LEVEL says otherwise.
inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  ::setenv("CORELANE_LOG_LEVEL", "warn", 0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    return app.exit(fault) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace bench_support
