// corelane-eval-node is a process of a real run (`corelane eval --real`), which starts and directs it. It is no command
// for users.
//
//   corelane-eval-node serve|call [-ORBOption VALUE ...]
//   corelane-eval-node watch
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "orb/core/config/orb_options.h"
#include "services/corelane/real_run/node/roles.h"

namespace {

int run(std::vector<std::string> words) {
  const std::vector<std::string> orb_options = corelane::core::take_orb_options(words);
  if (words == std::vector<std::string>{"serve"}) return corelane::tool::serve_tasks(orb_options);
  if (words == std::vector<std::string>{"call"}) return corelane::tool::call_tasks(orb_options);
  if (words == std::vector<std::string>{"watch"}) return corelane::tool::watch_gaps_here();
  std::cerr << "corelane-eval-node is a part of `corelane eval --real`, which starts it; use that command\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& fault) {
    std::cerr << "corelane-eval-node: " << fault.what() << "\n";
    return 1;
  }
}
