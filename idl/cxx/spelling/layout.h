// Layout: says which definitions are in which generated file and namespace.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/spelling/text.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// Returns "plant/controller" for plant/controller.idl. The generated names append C.h, C.cpp, S.h and S.cpp.
std::string stem_of(const File& file);

// Returns what follows #include for a generated header, such as "plantC.h", in the files of the main file. In a folder
// below the output folder it is <plantC.h>: "plantC.h" would be searched in that folder first, where another file may
// have this path.
std::string include_name(const Model& model, const std::string& header);

// Returns whether the IDL includes the compiler's own <orb.idl>. Its C++ is part of the library.
bool includes_orb(const Model& model);

// Returns the definitions of the main file in modules or at file level, in order of declaration. Modules themselves and
// CORBA::TypeCode are left out.
std::vector<DefId> definitions_of_main(const Model& model);
std::vector<DefId> interfaces_of_main(const Model& model);
// Returns the interfaces that have servants: neither local nor abstract.
std::vector<DefId> servants_of_main(const Model& model);

// Namespaces opens and closes namespaces as the written definitions need them. Consecutive definitions share a
// namespace, and no empty one is written.
class Namespaces {
 public:
  explicit Namespaces(Text& out) : out_(out) {}
  // Switches to the namespace `name` ("Plant::Parts"; "" is the global one).
  void enter(const std::string& name);
  void leave() { enter({}); }

 private:
  Text& out_;
  std::string current_;
};

}  // namespace corelane::idl::cxx
