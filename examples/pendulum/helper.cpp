#include "examples/pendulum/helper.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <system_error>

#include "orb/os/clock.h"

namespace corelane::pendulum {

OrbOptions options_of(const std::vector<std::string>& prefixes, const OrbOptions& given) {
  OrbOptions chosen;
  bool wanted = false;
  for (const std::string& word : given) {
    if (word.starts_with("-ORB"))
      wanted = std::ranges::any_of(prefixes, [&](const std::string& prefix) { return word.starts_with(prefix); });
    if (wanted) chosen.push_back(word);
  }
  return chosen;
}

bool Helper::start() {
  try {
    program_.emplace(command_);
  } catch (const std::system_error& failure) {
    std::cerr << failure.what() << "\n";
    return false;
  }
  if (ready_(*program_)) return true;
  program_.reset();
  return false;
}

std::optional<os::ExitStatus> Helper::ended() {
  if (!program_) return std::nullopt;
  const auto status = program_->wait(os::now());
  if (status) program_.reset();
  return status;
}

void Helper::stop() noexcept {
  constexpr Duration longest_end = std::chrono::seconds{20};
  if (!program_) return;
  ::kill(program_->pid(), SIGTERM);
  (void)program_->wait(os::now() + longest_end);
  program_.reset();
}

}  // namespace corelane::pendulum
