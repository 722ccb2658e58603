// The command line of a benchmark.
#pragma once

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <optional>

namespace bench_support {

// Parses the command line. Returns the exit status if the program has to end: 0 after --help, 2 after an invalid option
// or value, which it has reported. Returns nothing if the program continues.
//
// Sets the log level to `warn` for this program and those that it starts, so that info messages of ORBs stay out of the
// tables. CORELANE_LOG_LEVEL overrides this.
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
