// corelane-attack-server: what the attack battery attacks, and the client that it kills.
//
//   corelane-attack-server serve [-ORBOption VALUE ...]
//       serves a Probe; prints its reference, and where it listens; note() of a text that begins with "slow" blocks.
//       The line "release" lets note() and block() return; ends with its standard input.
//   corelane-attack-server call REFERENCE [-ORBOption VALUE ...]
//       calls echo() with long texts for ever, has a task admitted, and prints a line after each call
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/reference.h"
#include "orb/rt/rt.h"
#include "orb/transport/endpoint.h"
#include "tests/support/probe_servant.h"

namespace {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

class AttackedServant : public ProbeServant {
 public:
  void note(const std::string& text) override {
    if (text.starts_with("slow")) released.wait(false);
  }
};

// Unlike TestOrb it keeps every default.
CORBA::object_reference<CORBA::ORB> default_orb(const std::vector<std::string>& options) {
  std::vector<std::string> words{"attack"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  return CORBA::ORB_init(argc, argv.data());
}

int serve(const std::vector<std::string>& options) {
  const auto orb = default_orb(options);
  const auto root = IDL::traits<PortableServer::POA>::narrow(orb->resolve_initial_references("RootPOA"));
  const auto servant = CORBA::make_reference<AttackedServant>();
  root->the_POAManager()->activate();
  std::cout << orb->object_to_string(root->servant_to_reference(servant)) << "\n"
            << transport::to_string(orb->endpoints()) << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    if (line == "release") servant->release();
  servant->release();
  orb->destroy();
  return 0;
}

int call(const std::string& reference, const std::vector<std::string>& options) {
  TestOrb orb(options);
  const auto probe = probe_of(orb, reference);
  const auto task = rt::admit(probe, {.operation = "add", .contract = make_contract(50ms, 100us, 50ms, 5ms)});
  const std::string text(100'000, 'x');
  for (;;) {  // until it is killed
    if (probe->echo(text) != text) return 1;
    if (task) (void)probe->add(1, 1);
    std::cout << "answered" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 1 && words[0] == "serve") return serve({words.begin() + 1, words.end()});
  if (words.size() >= 2 && words[0] == "call") return call(words[1], {words.begin() + 2, words.end()});
  throw std::runtime_error("serve, or call REFERENCE");
} catch (const std::exception& fault) {
  std::cerr << "corelane-attack-server: " << fault.what() << "\n";
  return 2;
}
