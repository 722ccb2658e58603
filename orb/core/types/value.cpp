#include "orb/core/types/value.h"

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/exception.h"
#include "orb/core/orb.h"

namespace corelane::core {

Handle<ValueBase> ValueBase::_copy_value() const {
  auto copy = std::dynamic_pointer_cast<ValueBase>(any::copy_graph(*this));
  if (copy == nullptr) raise(Error{ErrorKind::no_implement, Completion::no, minor::no_value_factory});
  return Handle<ValueBase>(std::move(copy));
}

bool extract_value(const any::Any& any, const any::DeclaredValue& wanted, bool (*fits)(const any::Value& value),
                   Handle<ValueBase>& value) {
  if (Handle<ValueBase> held; any.extract(held, any::basic::null)) {
    if (held && !fits(*held)) return false;
    value = std::move(held);
    return true;
  }
  const any::TypeDesc& type = any::unaliased(*any.type_code());
  if (type.kind != any::Kind::value && type.kind != any::Kind::value_box) return false;
  const any::DeclaredValue declared = type.id == wanted.type.id ? wanted : any::DeclaredValue{type};
  return any.with_bytes([&](cdr::Reader& reader) {
    cdr::Reader::Attempt attempt(reader);
    std::shared_ptr<any::Value> read;
    if (!any::decode_value(reader, declared, read) || (read && !fits(*read))) return false;
    attempt.keep();
    value = Handle<ValueBase>(std::dynamic_pointer_cast<ValueBase>(read));
    return true;
  });
}

ValueCopy::ValueCopy() : environment_(std::make_unique<ReferenceEnvironment>(Orb::first_of_process())) {}
ValueCopy::~ValueCopy() = default;

cdr::Reader& ValueCopy::reader() {
  if (!writer_.ok()) refuse(writer_.error());
  reader_ = any::reader_of_copy(writer_);
  reader_.set_environment(environment_.get());
  return reader_;
}

void ValueCopy::fail() { refuse(reader_.error()); }

void ValueCopy::refuse(const Error& error) { raise_as_servant({error.kind, Completion::maybe, error.minor}); }

// The value factories of the ORB.

Handle<ValueFactoryBase> Orb::register_value_factory(const std::string& id, const Handle<ValueFactoryBase>& factory) {
  if (!factory) raise(Error{ErrorKind::bad_param, Completion::no, minor::nil_reference});
  return Handle<ValueFactoryBase>(
      std::dynamic_pointer_cast<ValueFactoryBase>(any::register_factory(id, factory.shared())));
}

void Orb::unregister_value_factory(const std::string& id) { any::unregister_factory(id); }

Handle<ValueFactoryBase> Orb::lookup_value_factory(const std::string& id) const {
  return Handle<ValueFactoryBase>(std::dynamic_pointer_cast<ValueFactoryBase>(any::find_factory(id)));
}

}  // namespace corelane::core
