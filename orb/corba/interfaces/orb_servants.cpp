#include "orb/corba/orb_servants.h"

namespace POA_CORBA {
namespace {

void policy_type_remote(void* self, ::corelane::core::ServerRequest& request) {
  request.unmarshal();
  request.marshal(static_cast<Policy*>(self)->policy_type());
}
void policy_type_local(void* self, void* const* frame) {
  *static_cast<::CORBA::PolicyType*>(frame[0]) = static_cast<Policy*>(self)->policy_type();
}

void copy_remote(void* self, ::corelane::core::ServerRequest& request) {
  request.unmarshal();
  request.marshal(static_cast<Policy*>(self)->copy());
}
void copy_local(void* self, void* const* frame) {
  *static_cast<::CORBA::object_reference<::CORBA::Policy>*>(frame[0]) = static_cast<Policy*>(self)->copy();
}

void destroy_remote(void* self, ::corelane::core::ServerRequest& request) {
  request.unmarshal();
  static_cast<Policy*>(self)->destroy();
  request.marshal();
}
void destroy_local(void* self, void* const*) { static_cast<Policy*>(self)->destroy(); }

// Sorted by name.
constexpr ::corelane::core::Upcall policy_upcalls[] = {
    {.name = "_get_policy_type",
     .remote = policy_type_remote,
     .local = policy_type_local,
     .oneway = false,
     .raises = {},
     .contract = nullptr},
    {.name = "copy", .remote = copy_remote, .local = copy_local, .oneway = false, .raises = {}, .contract = nullptr},
    {.name = "destroy",
     .remote = destroy_remote,
     .local = destroy_local,
     .oneway = false,
     .raises = {},
     .contract = nullptr},
};
constexpr const char* policy_ids[] = {::CORBA::Policy::_id, ::CORBA::Object::_id};
constexpr ::corelane::core::Skeleton policy_skeleton{.ids = policy_ids, .upcalls = policy_upcalls};

constexpr const char* interface_def_ids[] = {::CORBA::InterfaceDef::_id, ::CORBA::Object::_id};
constexpr ::corelane::core::Skeleton interface_def_skeleton{.ids = interface_def_ids, .upcalls = {}};

}  // namespace

const ::corelane::core::Skeleton& Policy::_skeleton() const noexcept { return policy_skeleton; }
const ::corelane::core::Skeleton& InterfaceDef::_skeleton() const noexcept { return interface_def_skeleton; }

}  // namespace POA_CORBA
