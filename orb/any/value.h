// Value is the interface of value-type instances for encoding and decoding. This header also has the registry of
// factories that make instances. CORBA 3.3 part 2, 9.3.4; part 1, 5. CORBA::ValueBase is built on it.
//
// Threads: the program guards its values; any thread may use the registry of factories.
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
  // Returns the most derived IDL type: a constant.
  virtual const TypeDesc& _type_desc() const noexcept = 0;
  // Encode and decode the state members, those of the base first. A custom type writes its own format.
  virtual void _encode_state(cdr::Writer& writer) const = 0;
  virtual bool _decode_state(cdr::Reader& reader) = 0;
  // Sets members that refer to values to null, so that a cycle of values can be freed.
  virtual void _let_go() {}
  // Returns a new instance of the same class; null if only a factory can make it.
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
  // Returns the type of the instances that it makes: a constant.
  virtual const TypeDesc& _type_desc() const noexcept = 0;
};

// Registers a factory; returns the previous factory of this id, or null. One registry serves all ORBs of a process.
std::shared_ptr<ValueFactory> register_factory(std::string_view id, std::shared_ptr<ValueFactory> factory);
// Removes a factory; returns false if there was none.
bool unregister_factory(std::string_view id);
std::shared_ptr<ValueFactory> find_factory(std::string_view id);

// Copies all values that can be reached from `value`, by encoding them. Values that are shared are shared in the copy.
// Returns null if a value cannot be encoded, or if neither _fresh() nor a factory can make it.
std::shared_ptr<Value> copy_graph(const Value& value);
// Returns a reader of the writer's bytes. It decodes values as copies of those that were written.
cdr::Reader reader_of_copy(cdr::Writer& writer);

}  // namespace corelane::any
