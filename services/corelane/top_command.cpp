#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "services/corelane/command.h"
#include "services/corelane/top.h"

namespace corelane::tool {
namespace {

struct TopOptions {
  std::string directory{};
  Format format = Format::table;
  double interval = 1;  // seconds
  bool once = false;
};

// Until the user ends it.
Status watch(const TopOptions& options) {
  KnownDirectories known;
  for (;;) {
    std::ostringstream picture;
    if (const Status status = top_once(options.directory, options.format, known, picture, std::cerr); status != 0)
      return status;
    if (options.format == Format::table) std::cout << "\x1b[H\x1b[2J";
    std::cout << picture.str() << std::flush;
    if (!std::cout) return 0;  // main() says it
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

Status run(const TopOptions& options) {
  KnownDirectories known;
  return options.once ? top_once(options.directory, options.format, known, std::cout, std::cerr) : watch(options);
}

}  // namespace

Action define_top(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<TopOptions>();
  app.add_flag("--once", options->once, "one picture instead of a live view");
  add_format(app, options->format);
  app.add_option("--interval", options->interval, "between two pictures; servers write twice a second")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0).description(""))
      ->capture_default_str();
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    options->directory = settings.runtime_directory;
    return run(*options);
  };
}

}  // namespace corelane::tool
