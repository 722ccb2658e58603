#include "orb/any/value.h"

#include <map>

#include "orb/any/value_read.h"
#include "orb/any/value_write.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"

namespace corelane::any {
namespace {

// The registered factories. Thread: any, under the mutex, which is held for one look-up.
struct Registry {
  os::Mutex mutex;
  std::map<std::string, std::shared_ptr<ValueFactory>, std::less<>> factories CORELANE_GUARDED_BY(mutex);
};
Registry& registry() {
  static Registry registry;
  return registry;
}

}  // namespace

std::shared_ptr<ValueFactory> register_factory(std::string_view id, std::shared_ptr<ValueFactory> factory) {
  const os::LockGuard lock(registry().mutex);
  std::shared_ptr<ValueFactory>& entry = registry().factories[std::string(id)];
  entry.swap(factory);
  return factory;
}

bool unregister_factory(std::string_view id) {
  std::shared_ptr<ValueFactory> removed;  // destroyed after the mutex is released
  const os::LockGuard lock(registry().mutex);
  const auto found = registry().factories.find(id);
  if (found == registry().factories.end()) return false;
  removed = std::move(found->second);
  registry().factories.erase(found);
  return true;
}

std::shared_ptr<ValueFactory> find_factory(std::string_view id) {
  const os::LockGuard lock(registry().mutex);
  const auto found = registry().factories.find(id);
  return found == registry().factories.end() ? nullptr : found->second;
}

cdr::Reader reader_of_copy(cdr::Writer& writer) {
  cdr::Reader reader(writer.bytes());
  auto& models = ReadValues::of(reader).models;
  for (const auto& [model, entry] : WrittenValues::of(writer).values)
    models.emplace(writer.bytes().data() + entry.at, model);
  return reader;
}

std::shared_ptr<Value> copy_graph(const Value& value) {
  cdr::Writer writer;
  encode_value(writer, shared_self(value));
  if (!writer.ok()) return nullptr;
  cdr::Reader reader = reader_of_copy(writer);
  std::shared_ptr<Value> copy;
  return decode_value(reader, {value._type_desc()}, copy) ? copy : nullptr;
}

}  // namespace corelane::any
