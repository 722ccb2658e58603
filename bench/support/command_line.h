// The command line of a benchmark.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace bench_support {

// What the program is to end with: 0 after --help, 2 after an unknown option or a value that does not fit, which has
// been said. None: it goes on.
inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    return app.exit(fault) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace bench_support
