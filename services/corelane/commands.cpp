#include "services/corelane/command.h"

namespace corelane::tool {

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"trace", "look at what a server recorded, replay it, or write it for Perfetto", &define_trace},
      {"top", "show the tasks, cores, misses and budgets of this host's servers", &define_top},
  };
  return table;
}

}  // namespace corelane::tool
