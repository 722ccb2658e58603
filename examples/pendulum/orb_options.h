// The ORB's own options (-ORBx value) among a program's arguments, kept apart so that each process of the demo gets
// them.
#pragma once

#include <string>
#include <vector>

#include "orb/corba/orb.h"

namespace corelane::pendulum {

// Takes every "-ORBx" and the value behind it out of `arguments`.
std::vector<std::string> take_orb_options(std::vector<std::string>& arguments);

// ORB_init with these options. Raises BAD_PARAM with the reason when one is unknown.
CORBA::object_reference<CORBA::ORB> init_orb(const std::vector<std::string>& options);

}  // namespace corelane::pendulum
