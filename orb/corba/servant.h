// What generated servant code needs besides orb/generated.h, and what authors of servants use.
#pragma once

#include "orb/base/language.h"

#include <concepts>

#include "orb/corba/object.h"
#include "orb/core/requests/server_request.h"
#include "orb/core/skeleton.h"
#include "orb/poa/servant.h"

namespace PortableServer {

using ServantBase = ::corelane::poa::Servant;

}  // namespace PortableServer

namespace CORBA {

template <typename T>
using servant_reference = ::corelane::poa::ServantReference<T>;

// Generated code specializes it for each interface; see corelane::poa::ServantTraits.
template <typename T>
struct servant_traits;
// The traits of a program's own servant class.
template <std::derived_from<::PortableServer::ServantBase> T>
struct servant_traits<T> : ::corelane::poa::ServantTraits<T> {};

// Makes a servant or a local object. It is the only way to get a servant_reference to a new one.
using ::corelane::poa::make_reference;

}  // namespace CORBA
