#include "services/corelane/real_run/node_process.h"

#include <chrono>

#include "orb/os/clock.h"

namespace corelane::tool {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds{50};  // at is_to_stop()
constexpr Duration between_end_looks = std::chrono::milliseconds{1};

}  // namespace

NodeProcess::NodeProcess(std::string name, const std::vector<std::string>& command,
                         const std::function<bool()>& is_to_stop)
    : name_(std::move(name)), is_to_stop_(is_to_stop), process_(command) {}

std::string NodeProcess::line_of_output(Duration most, NodeProcess* needed) {
  for (const Time latest = os::now() + most;;) {  // bound: `latest`
    if (auto line = process_.read_line(os::now() + between_looks)) return *std::move(line);
    check_stop();
    if (has_ended()) {
      if (auto line = process_.read_line(os::now() + between_looks)) return *std::move(line);  // written before its end
      throw_end();
    }
    if (needed != nullptr && needed->has_ended()) needed->throw_end();
    if (os::now() >= latest) throw std::runtime_error(name_ + " does not answer; is the host overloaded?");
  }
}

void NodeProcess::await_end(Duration most) {
  for (const Time latest = os::now() + most; !has_ended() && os::now() < latest;) {
    check_stop();
    os::sleep_until(os::now() + between_end_looks);
  }
}

bool NodeProcess::has_ended() {
  if (!end_) end_ = process_.wait(os::now());
  return end_.has_value();
}

void NodeProcess::check_stop() const {
  if (is_to_stop_ && is_to_stop_()) throw Stopped{};
}

void NodeProcess::throw_end() const {
  throw std::runtime_error(name_ + " ended early (" + end_->text() +
                           "); its own message, if it wrote one, stands above");
}

std::vector<std::string> node_command(const std::string& program, const std::string& role,
                                      const std::vector<std::string>& orb_options) {
  std::vector<std::string> command{program, role};
  command.insert(command.end(), orb_options.begin(), orb_options.end());
  return command;
}

}  // namespace corelane::tool
