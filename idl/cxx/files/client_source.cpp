// Writes fooC.cpp: encoding and decoding, exceptions, TypeCodes, and the stubs.
#include <algorithm>

#include "idl/cxx/async/async.h"
#include "idl/cxx/definitions/interfaces.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/files/emit.h"
#include "idl/cxx/spelling/layout.h"

namespace corelane::idl::cxx {

std::string client_source(const Spelling& spelling) {
  const Model& model = spelling.model();
  Text out;
  write_head(spelling, out);
  out.line("#include $0\n\n#include \"orb/corba/print.h\"\n",
           {include_name(model, stem_of(model[FileId::main]) + "C.h")});
  Namespaces namespaces(out);
  TypeCodes type_codes(spelling, out);
  for (const DefId id : definitions_of_main(model)) {
    const DefinitionKind kind = model[id].kind();
    if (kind == DefinitionKind::forward || kind == DefinitionKind::constant || kind == DefinitionKind::native) continue;
    namespaces.enter(spelling.module_of(id));
    type_codes.define(id);
    if (kind != DefinitionKind::interface) {
      define_type(spelling, id, out);
      continue;
    }
    define_interface(spelling, id, out);
    if (std::get<Interface>(model[id].body).replies_of != DefId::none) define_async_stub(spelling, id, out);
  }
  namespaces.leave();
  return out.str();
}

}  // namespace corelane::idl::cxx
