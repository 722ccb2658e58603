// An ORB for a program that has its options as a list and not in argc and argv.
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/orb.h"

namespace corelane::corba {

// ORB_init with these options, such as {"-ORBPoolCores", "0"}. Raises BAD_PARAM with the reason for what is no option
// or has a bad value.
CORBA::object_reference<CORBA::ORB> init_orb(std::vector<std::string> options, const std::string& id = {});

}  // namespace corelane::corba
