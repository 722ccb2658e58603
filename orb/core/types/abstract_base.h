// AbstractBase is the base class of IDL abstract interfaces. A value of such a type is an object reference or a
// valuetype; which of the two is known only at run time. On the wire a boolean comes first: true for an object
// reference. CORBA 3.3 part 1, 5.3 and part 2, 9.3.7; IDL to C++11, 6.19.
//
// Threads: as for Object and ValueBase.
#pragma once

#include <concepts>
#include <iosfwd>
#include <memory>
#include <type_traits>

#include "orb/core/object.h"
#include "orb/core/types/value.h"

namespace corelane::core {

class AbstractBase {
 public:
  using _ref_type = Handle<AbstractBase>;
  static constexpr const char* _id = "IDL:omg.org/CORBA/AbstractBase:1.0";
  static Handle<AbstractBase> _stub(const std::shared_ptr<Reference>& reference);

  virtual ~AbstractBase() = default;
  // Return this as an object, or as a value; nil if it is the other kind.
  Handle<Object> _to_object();
  Handle<ValueBase> _to_value();

 protected:
  AbstractBase() = default;
  AbstractBase(const AbstractBase&) = default;
};

template <typename T>
concept AbstractInterface = std::derived_from<T, AbstractBase> && !std::derived_from<T, Object> && !ValueType<T>;

void encode_abstract(cdr::Writer& writer, const Handle<AbstractBase>& object);
// Decodes into `reference` or into `value`, and into neither for nil.
bool decode_abstract(cdr::Reader& reader, std::shared_ptr<Reference>& reference, std::shared_ptr<any::Value>& value);
void print_abstract(std::ostream& out, const Handle<AbstractBase>& object);

// For generated code. It checks no concept, because compilers may remember the concept's result from before T was
// defined.
template <typename T>
bool decode_abstract_as(cdr::Reader& reader, Handle<T>& out) {
  std::shared_ptr<Reference> reference;
  std::shared_ptr<any::Value> value;
  if (!decode_abstract(reader, reference, value)) return false;
  out = reference ? Handle<T>(T::_stub(reference)) : Handle<T>(std::dynamic_pointer_cast<T>(value));
  return out || !value || reader.fail(minor::wrong_value_type);
}

template <AbstractInterface T>
void encode(cdr::Writer& writer, const Handle<T>& object) {
  encode_abstract(writer, object);
}
template <AbstractInterface T>
bool decode(cdr::Reader& reader, Handle<T>& out) {
  return decode_abstract_as(reader, out);
}

template <AbstractInterface T>
std::ostream& operator<<(std::ostream& out, const Handle<T>& object) {
  print_abstract(out, object);
  return out;
}

// What IDL::traits<T> offers for an abstract interface.
template <typename T>
struct AbstractTraits : HandleTraits<T> {
  using typename HandleTraits<T>::ref_type;
  using is_abstract = std::true_type;

  // Narrows an abstract interface, an object or a value to T. Returns nil if it is not a T. May call the object.
  template <typename U>
  static ref_type narrow(const Handle<U>& from) {
    if (auto same = std::dynamic_pointer_cast<T>(from.shared())) return ref_type(std::move(same));
    auto* const object = dynamic_cast<Object*>(from.get());
    const bool is_one = object != nullptr && object->_reference() && object->_is_a(T::_id);
    return is_one ? ref_type(T::_stub(object->_reference())) : nullptr;
  }
};

}  // namespace corelane::core
