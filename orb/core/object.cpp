#include "orb/core/object.h"

#include <ostream>

#include "orb/base/minor.h"
#include "orb/core/client/client_call.h"
#include "orb/core/client/reference.h"
#include "orb/core/exception.h"
#include "orb/giop/ior.h"

namespace corelane::core {
namespace {

// CORBA 3.3 part 1, A.5: OMG minor 8, not supported for local objects.
constexpr Error not_for_local{ErrorKind::no_implement, Completion::no, minor::omg | 8};

std::size_t hash_of(const Reference& reference) {
  const Address* address = reference.address();
  if (address == nullptr) return std::hash<std::string>{}(reference.ior().type_id);
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(address->object_key.data()), address->object_key.size()});
}

std::shared_ptr<ActiveObject> local_object(Reference& reference) {
  if (!reference.is_local()) return nullptr;
  auto object = reference.find_local();
  if (!object) raise(object.error());
  return std::move(*object);
}

}  // namespace

bool Object::_is_a(const std::string& repository_id) {
  if (repository_id == _id) return true;
  if (!reference_) return false;
  if (reference_->ior().type_id == repository_id) return true;
  if (const auto object = local_object(*reference_)) return object->skeleton().is_a(repository_id);
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference_, "_is_a");
  call->arguments().write_string(repository_id);
  call->invoke({});
  bool result = false;
  if (!call->results().read(result)) call->raise_bad_results();
  return result;
}

bool Object::_non_existent() {
  if (!reference_) return false;
  try {
    if (const auto object = local_object(*reference_)) return !object->active();
    ClientCallPtr call = ClientCall::acquire();
    call->begin(reference_, "_non_existent");
    call->invoke({});
    bool result = false;
    if (!call->results().read(result)) call->raise_bad_results();
    return result;
  } catch (const SystemException& exception) {
    if (exception.error().kind == ErrorKind::object_not_exist) return true;
    throw;
  }
}

std::string Object::_repository_id() {
  if (!reference_) return _id;
  if (const auto object = local_object(*reference_)) return object->skeleton().ids.front();
  if (!reference_->ior().type_id.empty()) return reference_->ior().type_id;
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference_, "_repository_id");
  call->invoke({});
  std::string_view id;
  if (!call->results().read_string(id)) call->raise_bad_results();
  return std::string(id);
}

ObjectReference<Object> Object::_get_component() {
  if (!reference_) raise(not_for_local);
  if (local_object(*reference_)) return nullptr;
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference_, "_component");
  call->invoke({});
  ObjectReference<Object> component;
  if (!decode(call->results(), component)) call->raise_bad_results();
  return component;
}

Handle<Orb> Object::_get_orb() const {
  if (!reference_) raise(not_for_local);
  return Handle<Orb>(reference_->orb());
}

bool Object::_is_equivalent(const ObjectReference<Object>& other) const {
  if (!other) return false;
  if (other.get() == this) return true;
  const auto& theirs = other->_reference();
  if (!reference_ || !theirs) return false;
  if (reference_ == theirs) return true;
  const Address* a = reference_->address();
  const Address* b = theirs->address();
  if (a == nullptr || b == nullptr) return reference_->ior() == theirs->ior();
  return a->endpoints == b->endpoints && a->object_key == b->object_key;
}

std::uint32_t Object::_hash(std::uint32_t maximum) const {
  if (maximum == 0) return 0;
  const std::size_t hash = reference_ ? hash_of(*reference_) : std::hash<const void*>{}(this);
  return static_cast<std::uint32_t>(hash % (std::size_t{maximum} + 1));
}

bool locate(const ObjectReference<Object>& object) {
  const std::shared_ptr<Reference>& reference = object->_reference();
  if (!reference) return true;
  ClientCallPtr call = ClientCall::acquire();
  call->begin(reference, "_non_existent");
  return call->locate();
}

void encode_reference(cdr::Writer& writer, const Object* object) {
  if (object == nullptr) return giop::encode(writer, giop::Ior{});
  // A local object (a POA) cannot leave its process. CORBA 3.3 part 1, A.5: MARSHAL, OMG minor 4.
  if (!object->_reference()) return writer.fail(ErrorKind::marshal, minor::omg | 4);
  giop::encode(writer, object->_reference()->ior());
}

bool decode_reference(cdr::Reader& reader, std::shared_ptr<Reference>& reference) {
  giop::Ior ior;
  if (!giop::decode(reader, ior)) return false;
  reference.reset();
  if (ior.nil()) return true;
  auto* environment = dynamic_cast<ReferenceEnvironment*>(reader.environment());
  if (environment == nullptr) return reader.fail(minor::bad_ior);
  reference = std::make_shared<Reference>(environment->shared_orb(), std::move(ior));
  return true;
}

void print_reference(std::ostream& out, const Object* object) {
  if (object == nullptr) {
    out << "nil";
  } else if (!object->_reference()) {
    out << "local object";
  } else {
    const std::string& id = object->_reference()->ior().type_id;
    out << (id.empty() ? Object::_id : id);
  }
}

}  // namespace corelane::core
