// PortableServer: POA, POAManager and servants under their standard names.
#pragma once

#include "orb/base/language.h"

#include "orb/corba/servant.h"
#include "orb/poa/poa.h"

namespace PortableServer {

using POA = ::corelane::poa::Poa;
using POAManager = ::corelane::poa::PoaManager;
using ObjectId = ::corelane::poa::ObjectId;

}  // namespace PortableServer

namespace IDL {

template <>
struct traits<::PortableServer::POA> : ::corelane::core::InterfaceTraits<::PortableServer::POA> {};
template <>
struct traits<::PortableServer::POAManager> : ::corelane::core::InterfaceTraits<::PortableServer::POAManager> {};

}  // namespace IDL
