#include "orb/corba/orb.h"

#include "orb/poa/poa.h"

namespace CORBA {

object_reference<ORB> ORB_init(int& argc, char* argv[], const std::string& id) {
  auto [orb, created] = ORB::init(argc, argv, id);
  if (created) ::corelane::poa::install(orb);
  return object_reference<ORB>(std::move(orb));
}

}  // namespace CORBA
