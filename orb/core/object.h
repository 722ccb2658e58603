// Object is the base class of every stub and of local objects such as the POA; it is CORBA::Object. CORBA 3.3 part 1,
// 8.3.
//
// Threads: any. A stub has no state except its shared Reference.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/cdr/codec.h"
#include "orb/core/handle.h"

namespace CORBA {

class Policy;

}  // namespace CORBA

namespace corelane::core {

// Whether policies replace those that a reference had, or are added to them.
enum class SetOverrideType : std::uint32_t { SET_OVERRIDE, ADD_OVERRIDE };

class Object;
class Orb;
class Reference;

template <typename T>
using ObjectReference = Handle<T>;

// StubInit is the argument of stub constructors. Only the runtime can make one.
class StubInit {
 public:
  const std::shared_ptr<Reference>& reference() const noexcept { return reference_; }

 private:
  explicit StubInit(std::shared_ptr<Reference> reference) : reference_(std::move(reference)) {}
  template <typename T>
  friend ObjectReference<T> make_stub(std::shared_ptr<Reference> reference);
  std::shared_ptr<Reference> reference_;
};

class Object {
 public:
  using _ref_type = ObjectReference<Object>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/Object:1.0";

  explicit Object(const StubInit& init) : reference_(init.reference()) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Returns whether the object has this type. Calls the object unless its type is known here. Raises what a call
  // raises.
  bool _is_a(const std::string& repository_id);
  // Returns true only if the object is certainly gone.
  bool _non_existent();
  // Returns whether both have the same key at the same address. False proves nothing.
  bool _is_equivalent(const ObjectReference<Object>& other) const;
  std::uint32_t _hash(std::uint32_t maximum) const;
  // Returns the most derived interface that the reference names. Calls the object if it names none.
  std::string _repository_id();
  // Returns the component that the object is part of, as objects of other ORBs may be; otherwise nil. Calls the object.
  // Raises NO_IMPLEMENT for a local object.
  ObjectReference<Object> _get_component();
  // Returns the ORB that this reference came from. Raises NO_IMPLEMENT for a local object.
  Handle<Orb> _get_orb() const;

  // Returns a reference to the same object, whose calls obey these policies. This reference stays as it is. Raises
  // CORBA::InvalidPolicies if one of them is not for references, and NO_IMPLEMENT for a local object. orb/corba defines
  // both functions.
  ObjectReference<Object> _set_policy_overrides(const std::vector<ObjectReference<::CORBA::Policy>>& policies,
                                                SetOverrideType how) const;
  // Returns the policy of this type that was set; nil: none was. Raises INV_POLICY if no reference takes the type.
  ObjectReference<::CORBA::Policy> _get_policy(std::uint32_t type) const;

  // Returns null for a local object.
  const std::shared_ptr<Reference>& _reference() const noexcept { return reference_; }

 protected:
  Object() = default;  // local objects

 private:
  const std::shared_ptr<Reference> reference_;
};

// Makes a stub of type T without asking the object whether it is one.
template <typename T>
ObjectReference<T> make_stub(std::shared_ptr<Reference> reference) {
  if (!reference) return nullptr;
  return ObjectReference<T>(std::make_shared<T>(StubInit(std::move(reference))));
}

// Returns nil if the object is not a T. May call the object.
template <typename T>
ObjectReference<T> narrow(const ObjectReference<Object>& object) {
  if (!object) return nullptr;
  if (auto same = std::dynamic_pointer_cast<T>(object.shared())) return ObjectReference<T>(std::move(same));
  if constexpr (std::constructible_from<T, const StubInit&>) {
    if (object->_reference() && object->_is_a(T::_id)) return make_stub<T>(object->_reference());
  }
  return nullptr;
}

// What IDL::traits<T> offers for an interface.
template <typename T>
struct InterfaceTraits : HandleTraits<T> {
  static ObjectReference<T> narrow(const ObjectReference<Object>& object) { return core::narrow<T>(object); }
};

// Asks the server, with a LocateRequest, whether it has the object. No servant is involved. Raises what a call raises.
bool locate(const ObjectReference<Object>& object);

// Encodes a reference as an IOR. Nil is an IOR without profiles.
void encode_reference(cdr::Writer& writer, const Object* object);
// Decodes a reference; null means nil. The reader's environment must be that of an ORB.
bool decode_reference(cdr::Reader& reader, std::shared_ptr<Reference>& reference);

template <typename T>
bool decode_reference_as(cdr::Reader& reader, ObjectReference<T>& out) {
  std::shared_ptr<Reference> reference;
  if (!decode_reference(reader, reference)) return false;
  out = make_stub<T>(std::move(reference));
  return true;
}

template <typename T>
void encode(cdr::Writer& writer, const ObjectReference<T>& reference) {
  encode_reference(writer, reference.get());
}
template <typename T>
bool decode(cdr::Reader& reader, ObjectReference<T>& out) {
  return decode_reference_as(reader, out);
}

// Prints "nil", "local object", or the repository id of the reference. For people.
void print_reference(std::ostream& out, const Object* object);

template <std::derived_from<Object> T>
std::ostream& operator<<(std::ostream& out, const ObjectReference<T>& reference) {
  print_reference(out, reference.get());
  return out;
}

}  // namespace corelane::core
