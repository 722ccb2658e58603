// Prints values of IDL types. Generated operator<< call print(). IDL::traits<T>::write() prints types without an
// operator, such as sequences. Values are written as their type describes them: Point{x = 1, label = "a"}.
//
// Threads: none of its own.
#pragma once

#include "orb/base/language.h"

#include <ostream>

#include "orb/any/desc_of.h"
#include "orb/any/walk.h"
#include "orb/cdr/codec.h"
#include "orb/corba/traits.h"

namespace corelane::core {

// Prints a value; `type` describes T. A value that cannot be encoded prints as Name{?}.
template <typename T>
std::ostream& print(std::ostream& out, const T& value, const any::TypeDesc& type) {
  cdr::Writer writer;
  if (type.kind == any::Kind::exception) writer.write_string(type.id);
  encode(writer, value);
  cdr::Reader reader(writer.bytes());
  if (!writer.ok() || !any::print(out, reader, type)) out << type.name << "{?}";
  return out;
}

}  // namespace corelane::core

namespace IDL {

template <typename T>
std::ostream& operator<<(std::ostream& out, const Written<T>& written) {
  static_assert(::corelane::any::Described<T>, "a type that IDL does not know, or a local one");
  return ::corelane::core::print(out, written.value, *::corelane::any::desc_of<T>);
}

}  // namespace IDL
