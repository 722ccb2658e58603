// Directory is the servant of one naming context: CosNaming::NamingContextExt and Corelane::Naming::Directory. NameTree
// has the rules for names, and Objects translates names, faults and references.
//
// Threads: any, several at a time.
#pragma once

#include <string>

#include "CorelaneNamingS.h"
#include "orb/os/process/process_watch.h"
#include "services/nameserver/clients.h"
#include "services/nameserver/iterators.h"
#include "services/nameserver/leases.h"
#include "services/nameserver/name_tree.h"
#include "services/nameserver/objects.h"

namespace corelane::nameserver {

// The parts of the server that contexts use. The server outlives the contexts.
struct DirectoryParts {
  NameTree& tree;
  Objects& objects;
  Iterators& iterators;
  Leases& leases;
  os::ProcessWatch& processes;
  const Writers& writers;
  CORBA::object_reference<Corelane::Naming::Server> server{};
};

class Directory final : public virtual CORBA::servant_traits<Corelane::Naming::Directory>::base_type {
 public:
  using ObjectRef = CORBA::object_reference<CORBA::Object>;
  using ContextRef = CORBA::object_reference<CosNaming::NamingContext>;

  Directory(DirectoryParts& parts, ContextId context) : parts_(parts), context_(context) {}

  void bind(const CosNaming::Name& n, ObjectRef object) override;
  void rebind(const CosNaming::Name& n, ObjectRef object) override;
  void bind_context(const CosNaming::Name& n, ContextRef context) override;
  void rebind_context(const CosNaming::Name& n, ContextRef context) override;
  ObjectRef resolve(const CosNaming::Name& n) override;
  void unbind(const CosNaming::Name& n) override;
  ContextRef new_context() override;
  ContextRef bind_new_context(const CosNaming::Name& n) override;
  void destroy() override;
  void list(std::uint32_t how_many, CosNaming::BindingList& bindings,
            CORBA::object_reference<CosNaming::BindingIterator>& iterator) override;

  std::string to_string(const CosNaming::Name& n) override;
  CosNaming::Name to_name(const std::string& text) override;
  std::string to_url(const std::string& address, const std::string& text) override;
  ObjectRef resolve_str(const std::string& text) override;

  CORBA::object_reference<Corelane::Naming::Server> nameserver() override { return parts_.server; }
  void bind_leased(const CosNaming::Name& n, ObjectRef object, Corelane::Naming::LeaseId lease, bool replace) override;
  Corelane::Naming::Details describe(const CosNaming::Name& n) override;

 private:
  ObjectRef object_of(const Binding& binding, const Name& name);
  ObjectRef resolve(const Name& name);

  DirectoryParts& parts_;
  const ContextId context_;
};

}  // namespace corelane::nameserver
