#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "orb/dispatch/host_ledger.h"
#include "services/corelane/command.h"
#include "services/corelane/top.h"

namespace corelane::tool {
namespace {

struct Options {
  std::string directory = dispatch::runtime_directory();
  std::string format = "table";
  double interval = 1;  // seconds
  bool once = false;
};

// Until the user ends it.
Status watch(const Options& options, TopFormat format) {
  for (;;) {
    std::ostringstream picture;
    if (const Status status = top_once(options.directory, format, picture, std::cerr); status != 0) return status;
    if (format == TopFormat::table) std::cout << "\x1b[H\x1b[2J";
    std::cout << picture.str() << std::flush;
    if (!std::cout) return 1;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

Status run(const Options& options) {
  const TopFormat format = options.format == "json" ? TopFormat::json : TopFormat::table;
  return options.once ? top_once(options.directory, format, std::cout, std::cerr) : watch(options, format);
}

}  // namespace

std::function<Status()> define_top(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_flag("--once", options->once, "one picture instead of a live view");
  app.add_option("--format", options->format, "how it is shown")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_option("--interval", options->interval, "seconds between two pictures; servers write twice a second")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--runtime-directory", options->directory, "the servers' runtime.directory")
      ->type_name("DIR")
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace corelane::tool
