// Defines CORBA::ORB and ORB_init.
#pragma once

#include "orb/base/language.h"

#include <string>

#include "orb/corba/exception.h"
#include "orb/corba/object.h"
#include "orb/corba/print.h"
#include "orb/corba/type_members.h"
#include "orb/core/orb.h"

namespace CORBA {

using ORB = ::corelane::core::Orb;

// Makes an ORB, and removes the -ORB options from argc and argv. An unknown option or a bad value raises BAD_PARAM with
// a text. A second call with the id of a living ORB returns that ORB.
object_reference<ORB> ORB_init(int& argc, char* argv[], const std::string& id = {});

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::ORB> {
  using ref_type = ::CORBA::object_reference<::CORBA::ORB>;
  using weak_ref_type = ::corelane::core::WeakHandle<::CORBA::ORB>;
};

}  // namespace IDL
