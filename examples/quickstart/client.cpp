#include <iostream>

#include "orb/corba/orb.h"
#include "plantC.h"

int main(int argc, char** argv) {
  auto orb = CORBA::ORB_init(argc, argv);
  auto controller = IDL::traits<Plant::Controller>::narrow(orb->string_to_object(argv[1]));
  std::cout << controller->step(1.0) << '\n';  // admitted, or NO_RESOURCES with the reason
}
