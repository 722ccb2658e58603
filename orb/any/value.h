// Value: what encoding and decoding ask of an instance of a value type; and the factories that make instances.
// CORBA 3.3 part 2, 9.3.4; part 1, 5. CORBA::ValueBase stands on it.
//
// Threads: a value is its program's to guard; the registry of factories may be used from any.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "orb/any/type.h"
#include "orb/base/shared_self.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::any {

class Value : public virtual SharedSelf {
 public:
  // The most derived IDL type: a constant.
  virtual const TypeDesc& _type_desc() const noexcept = 0;
  // State members, those of the base first; of a custom type whatever it writes.
  virtual void _encode_state(cdr::Writer& writer) const = 0;
  virtual bool _decode_state(cdr::Reader& reader) = 0;
  // Sets the members that refer to values to null, so that a circle of them can be freed.
  virtual void _let_go() {}
  // A new one of the same class; null when only a factory can make it.
  virtual std::shared_ptr<Value> _fresh() const { return nullptr; }

 protected:
  Value() = default;
  Value(const Value&) = default;
  Value& operator=(const Value&) = default;
};

class ValueFactory {
 public:
  virtual ~ValueFactory() = default;
  virtual std::shared_ptr<Value> _make() = 0;
  // Of what it makes: a constant.
  virtual const TypeDesc& _type_desc() const noexcept = 0;
};

// One registry serves all ORBs of a process. Registering gives the factory that was there before, or null.
std::shared_ptr<ValueFactory> register_factory(std::string_view id, std::shared_ptr<ValueFactory> factory);
// False when there was none.
bool unregister_factory(std::string_view id);
std::shared_ptr<ValueFactory> find_factory(std::string_view id);

// The whole graph that can be reached from `value`, copied by its encoding: what is shared in it is shared in the copy.
// Null when something in it can be made neither by _fresh() nor by a factory, or not be encoded.
std::shared_ptr<Value> copy_graph(const Value& value);
// A reader of what a writer holds, whose values come out as copies of those that were written.
cdr::Reader reader_of_copy(cdr::Writer& writer);

}  // namespace corelane::any
