#include "bench/peers/driver/options.h"

#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace peers {
namespace {

using Setters = std::map<std::string_view, std::function<void(const std::string& option, const std::string& value)>>;

template <typename Number>
auto number_into(Number& target) {
  return [&target](const std::string& option, const std::string& value) {
    Number number{};
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fault != std::errc{} || end != value.data() + value.size())
      throw std::invalid_argument(option + " takes a whole number, not '" + value + "'");
    target = number;
  };
}

auto milliseconds_into(Nanoseconds& target) {
  return [&target](const std::string& option, const std::string& value) {
    std::uint32_t milliseconds = 0;
    number_into(milliseconds)(option, value);
    target = std::chrono::milliseconds{milliseconds};
  };
}

auto text_into(std::string& target) {
  return [&target](const std::string&, const std::string& value) { target = value; };
}

void read(int argc, char** argv, const Setters& setters) {
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const auto setter = setters.find(option);
    if (setter == setters.end()) throw std::invalid_argument("unknown option '" + option + "'");
    if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
    setter->second(option, argv[i + 1]);
  }
}

}  // namespace

ClientOptions client_options(int argc, char** argv) {
  ClientOptions options;
  std::size_t gate = 0;
  read(argc, argv,
       {{"--address", text_into(options.address)},
        {"--load", text_into(options.load)},
        {"--operation", text_into(options.operation)},
        {"--calls", number_into(options.calls)},
        {"--warm-up", number_into(options.warm_up)},
        {"--threads", number_into(options.threads)},
        {"--size", number_into(options.size)},
        {"--extra-connections", number_into(options.extra_connections)},
        {"--rate", number_into(options.rate)},
        {"--pace", text_into(options.pace)},
        {"--duration-ms", milliseconds_into(options.duration)},
        {"--idle-ms", milliseconds_into(options.idle)},
        {"--started", number_into(options.started)},
        {"--server-pid", number_into(options.server_pid)},
        {"--gate", number_into(gate)},
        {"--kind", text_into(options.kind)}});
  options.gate = gate != 0;
  return options;
}

ServerOptions server_options(int argc, char** argv) {
  ServerOptions options;
  read(argc, argv,
       {{"--address", text_into(options.address)},
        {"--threads", number_into(options.threads)},
        {"--kind", text_into(options.kind)}});
  return options;
}

}  // namespace peers
