// PortableServer: POA, POAManager and servants under their standard names.
#pragma once

#include "orb/base/language.h"

#include <string>

#include "orb/corba/servant.h"
#include "orb/poa/poa.h"

namespace PortableServer {

using POA = ::corelane::poa::Poa;
using POAManager = ::corelane::poa::PoaManager;
using ObjectId = ::corelane::poa::ObjectId;

inline ObjectId string_to_ObjectId(const std::string& text) { return {text.begin(), text.end()}; }
inline std::string ObjectId_to_string(const ObjectId& id) { return {id.begin(), id.end()}; }

}  // namespace PortableServer

namespace IDL {

template <>
struct traits<::PortableServer::POA> : ::corelane::core::InterfaceTraits<::PortableServer::POA> {};
template <>
struct traits<::PortableServer::POAManager> : ::corelane::core::InterfaceTraits<::PortableServer::POAManager> {};

}  // namespace IDL
