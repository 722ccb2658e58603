// init_orb() makes an ORB for a program that has its options in a list and not in argc and argv.
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/orb.h"

namespace corelane::corba {

// Calls ORB_init with these options, such as {"-ORBPoolCores", "0"}. Raises BAD_PARAM with the reason for an unknown
// option or a bad value.
CORBA::object_reference<CORBA::ORB> init_orb(std::vector<std::string> options, const std::string& id = {});

}  // namespace corelane::corba
