#include <iostream>

#include "orb/corba/orb.h"
#include "plantC.h"

int main(int argc, char** argv) try {
  auto orb = CORBA::ORB_init(argc, argv);
  if (argc != 2 || *argv[1] == '-') return std::cerr << "usage: " << argv[0] << " REFERENCE\n", 2;
  auto controller = IDL::traits<Plant::Controller>::narrow(orb->string_to_object(argv[1]));
  if (!controller) return std::cerr << "client: the reference names no Plant::Controller\n", 1;
  std::cout << controller->step(1.0) << '\n';  // admitted, or NO_RESOURCES with the reason
} catch (const std::exception& failure) {
  std::cerr << "client: " << failure.what() << '\n';
  return 1;
}
