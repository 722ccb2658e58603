#include <iostream>

#include "orb/corba/orb.h"
#include "orb/rt/rt.h"
#include "plantC.h"

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 2 || *argv[1] == '-') return std::cerr << "usage: " << argv[0] << " REFERENCE\n", 2;
  auto controller = IDL::traits<Plant::Controller>::narrow(orb->string_to_object(argv[1]));
  if (!controller) return std::cerr << "task: the reference names no Plant::Controller\n", 1;

  const auto contract = corelane::make_contract(20ms, 1500us, 10ms);  // period, budget, deadline
  const auto task = corelane::rt::admit(controller, {.operation = "step", .contract = contract});
  if (!task) return std::cerr << "refused: " << task.error().text << '\n', 3;
  for (int i = 1; i <= 5; ++i) std::cout << controller->step(i) << '\n';  // its jobs; an early one waits
} catch (const std::exception& failure) {
  std::cerr << "task: " << failure.what() << '\n';
  return 1;
}
