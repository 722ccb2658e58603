#include "orb/core/types/abstract_base.h"

#include <ostream>

#include "orb/any/walk.h"

namespace corelane::core {
namespace {

class Stub final : public virtual AbstractBase, public virtual Object {
 public:
  explicit Stub(const StubInit& init) : Object(init) {}
};

}  // namespace

Handle<AbstractBase> AbstractBase::_stub(const std::shared_ptr<Reference>& reference) {
  return make_stub<Stub>(reference);
}

Handle<Object> AbstractBase::_to_object() {
  auto* const object = dynamic_cast<Object*>(this);
  return object == nullptr ? nullptr : make_stub<Object>(object->_reference());
}

Handle<ValueBase> AbstractBase::_to_value() {
  auto* const value = dynamic_cast<ValueBase*>(this);
  if (value == nullptr) return nullptr;
  return Handle<ValueBase>(shared_self(*value));
}

void encode_abstract(cdr::Writer& writer, const Handle<AbstractBase>& object) {
  const auto* const as_object = dynamic_cast<const Object*>(object.get());
  writer.write(as_object != nullptr);
  if (as_object != nullptr) return encode_reference(writer, as_object);
  any::encode_value(writer, std::dynamic_pointer_cast<any::Value>(object.shared()));
}

bool decode_abstract(cdr::Reader& reader, std::shared_ptr<Reference>& reference, std::shared_ptr<any::Value>& value) {
  bool is_object = false;
  if (!reader.read(is_object)) return false;
  return is_object ? decode_reference(reader, reference) : any::decode_value(reader, {any::basic::value_base}, value);
}

void print_abstract(std::ostream& out, const Handle<AbstractBase>& object) {
  if (const auto value = std::dynamic_pointer_cast<any::Value>(object.shared())) return any::print(out, value);
  cdr::Writer writer;
  encode_abstract(writer, object);
  cdr::Reader reader(writer.bytes());
  if (!writer.ok() || !any::print(out, reader, any::basic::abstract_base)) out << "AbstractBase{?}";
}

}  // namespace corelane::core
