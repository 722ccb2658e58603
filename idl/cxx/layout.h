// Layout: what stands in which generated file, and in which namespace.
#pragma once

#include <string>
#include <vector>

#include "idl/cxx/text.h"
#include "idl/model/model.h"

namespace corelane::idl::cxx {

// "plant/controller" of plant/controller.idl: the generated names append C.h, C.cpp, S.h and S.cpp.
std::string stem_of(const File& file);

// Whether the IDL includes the compiler's own <orb.idl>, whose C++ is part of the library.
bool includes_orb(const Model& model);

// The definitions of the main file that stand in modules or at file level, in order of declaration, modules themselves
// and CORBA::TypeCode left out.
std::vector<DefId> definitions_of_main(const Model& model);
std::vector<DefId> interfaces_of_main(const Model& model);
// Those that have servants: neither local nor abstract.
std::vector<DefId> servants_of_main(const Model& model);

// Opens and closes namespaces as the definitions that are written need them, so that neighbours share one and no empty
// one is written.
class Namespaces {
 public:
  explicit Namespaces(Text& out) : out_(out) {}
  // What follows stands in `name` ("Plant::Parts", empty: global).
  void enter(const std::string& name);
  void leave() { enter({}); }

 private:
  Text& out_;
  std::string current_;
};

}  // namespace corelane::idl::cxx
