#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "orb/os/clock.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/host/elsewhere.h"
#include "services/corelane/output/text.h"
#include "services/corelane/servers/top.h"

namespace corelane::tool {
namespace {

// For servers that are asked to write. They do within half a second.
constexpr Duration patience = std::chrono::seconds{1};

struct TopOptions {
  std::string directory{};
  Format format = Format::table;
  double interval = 1;  // seconds
  bool once = false;
};

bool is_there(const std::string& directory) { return ::access(directory.c_str(), F_OK) == 0 || errno != ENOENT; }

std::string nowhere_text(const std::string& directory) {
  return "corelane top: " + plain(directory) +
         " is not there: no server has run with it; --runtime-directory names another";
}

// CLI::Range accepts "nan", which is neither below nor above its limits.
std::string nan_fault(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is not from 0.1 to 3600" : std::string{};
}

// Runs until the user ends it.
Status watch(const TopOptions& options) {
  KnownDirectories known;
  const bool clears = ::isatty(STDOUT_FILENO) == 1;  // otherwise one picture below the other
  const char* const between = clears || options.format == Format::json ? "" : "\n";
  if (!is_there(options.directory)) std::cerr << nowhere_text(options.directory) << "; waiting for one\n";
  for (;;) {
    std::ostringstream picture;
    const Duration longest = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.interval / 2));
    (void)await_pages(options.directory, os::now(), std::min(patience, longest));
    if (const Status status = top_once(options.directory, options.format, known, picture, std::cerr); status != 0)
      return status;
    if (options.format == Format::table && clears) std::cout << "\x1b[H\x1b[2J";
    std::cout << picture.str() << between << std::flush;
    if (!std::cout) return 0;  // main() reports it
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
}

// Handles a directory that does not exist: shows where else there are servers.
Status show_nowhere(const TopOptions& options, KnownDirectories& known) {
  std::cerr << nowhere_text(options.directory) << "\n";
  std::cout << (options.format == Format::json ? "[]\n" : elsewhere_text(options.directory, known.at(os::now())));
  return 1;
}

Status run(const TopOptions& options) {
  KnownDirectories known;
  if (!options.once) return watch(options);
  if (!is_there(options.directory)) return show_nowhere(options, known);
  (void)await_pages(options.directory, os::now(), patience);
  return top_once(options.directory, options.format, known, std::cout, std::cerr);
}

}  // namespace

Action define_top(CLI::App& app, std::vector<std::string>& orb_options) {
  const auto options = std::make_shared<TopOptions>();
  app.footer(
      "prio: the SCHED_FIFO level of its thread, 0 without one. T, D, C: period, deadline and budget of its contract.\n"
      "misses: jobs that ended after their deadline. overruns: that took more processor time than their budget C.\n"
      "oversleeps: that suspended themselves for longer than their contract says. blocks: that waited for something "
      "without saying so (a lock, a disk, a sleep), for 200 us or more: a suspension in the contract, or a Resource, "
      "declares that.\n"
      "refused: calls that came while a job of the task waited for its time already.\n"
      "p99, max: of the responses of all jobs since the admission, from the release to the end. bound: the longest "
      "that was computed, at the admission or as others came. Time that the host of a virtual machine takes comes on "
      "top of it, so max may be more.\n"
      "Exit status with --once: 0 the directory was looked at, 1 it is not there or cannot be read, 2 the "
      "command line was wrong.");
  app.add_flag("--once", options->once, "print once instead of a live view");
  add_format(app, options->format);
  app.add_option("--interval", options->interval,
                 "time between two updates; servers write twice a second, or without tasks when this asks them")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0).description(""))
      ->check(nan_fault)
      ->capture_default_str();
  add_directory(app, orb_options);
  return [options](const ToolSettings& settings) {
    options->directory = settings.runtime_directory;
    return run(*options);
  };
}

}  // namespace corelane::tool
