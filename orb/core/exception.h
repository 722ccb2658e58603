// This file defines the CORBA exceptions as C++ classes. raise() is the only place where an Error becomes an exception.
// CORBA 3.3 part 1, 8.7 and A.5; IDL to C++11, 6.18. The OMG names of these classes are in orb/corba/exception.h.
//
// Threads: value types. A copy shares its detail, which never changes.
#pragma once

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/error.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/sched/refusal.h"

namespace corelane::any {
struct TypeDesc;
}

namespace corelane::core {

class Exception : public std::exception {
 public:
  virtual const char* _rep_id() const noexcept = 0;
  virtual void _raise() const = 0;
};

// Prints what(). Exceptions that IDL declares have operators of their own, which print the members.
std::ostream& operator<<(std::ostream& out, const Exception& exception);

// Base of the exceptions that IDL declares; generated classes derive from it.
class UserException : public Exception {
 public:
  // Writes the repository id and the members, as a reply carries them.
  void _marshal(cdr::Writer& writer) const;
  // Returns a constant; null if the type has no TypeCode.
  virtual const any::TypeDesc* _type_desc() const noexcept { return nullptr; }

 private:
  virtual void _encode(cdr::Writer& writer) const = 0;  // members only
};

// Detail is what an exception says beyond its kind and minor code.
struct Detail {
  std::string text;                         // for people
  std::optional<sched::Refusal> refusal{};  // when admission was refused
};

class SystemException : public Exception {
 public:
  std::uint32_t minor() const noexcept { return error_.minor; }
  void minor(std::uint32_t value) noexcept { error_.minor = value; }
  Completion completed() const noexcept { return error_.completed; }
  void completed(Completion value) noexcept { error_.completed = value; }

  const Error& error() const noexcept { return error_; }
  const char* _rep_id() const noexcept override { return rep_id_; }
  // Returns "NO_RESOURCES (minor 0x434c4040, COMPLETED_NO): text of the minor code: detail". The minor code's text is
  // left out if the detail says it, too. The detail is left out if the minor code's text begins with it.
  const char* what() const noexcept override;
  // Returns the text that came with the exception; empty if there is none.
  std::string_view detail() const noexcept;
  // Returns the reason in numbers if the exception answers a refused admission; otherwise null.
  const sched::Refusal* refusal() const noexcept;

  // Returns whether the ORB raised it, or a call brought it. False if the application's code constructed it.
  bool raised_by_orb() const noexcept { return raised_by_orb_; }

 protected:
  SystemException(const char* rep_id, Error error, std::shared_ptr<const Detail> detail);

 private:
  friend void mark_raised_by_orb(SystemException& exception) noexcept;

  const char* rep_id_;
  Error error_;
  bool raised_by_orb_ = false;
  std::shared_ptr<const Detail> detail_;
  std::shared_ptr<const std::string> what_;
};

// Returns the repository id of a kind, such as "IDL:omg.org/CORBA/BAD_PARAM:1.0". Static storage.
const char* repository_id_of(ErrorKind kind) noexcept;

// One class for each kind.
template <ErrorKind kind>
class SystemExceptionOf final : public SystemException {
 public:
  explicit SystemExceptionOf(std::uint32_t minor = 0, Completion completed = Completion::no)
      : SystemExceptionOf(Error{kind, completed, minor}, nullptr) {}
  SystemExceptionOf(Error error, std::shared_ptr<const Detail> detail)
      : SystemException(repository_id_of(kind), error, std::move(detail)) {}
  void _raise() const override { throw *this; }
};

[[noreturn]] void raise(Error error);
[[noreturn]] void raise(Error error, std::string detail);
[[noreturn]] void raise(Error error, Detail detail);
// Raises with "doing: the text of the minor code" as the detail.
[[noreturn]] void raise_while(const std::string& doing, Error error);

// Raises as the application's code does, for the servants that are part of Corelane. The caller of the operation gets
// the exception with its completion status.
[[noreturn]] void raise_as_servant(Error error, std::string detail = {});

// Marks an exception as raised by the ORB. raise() does so, and a call when an exception leaves it.
void mark_raised_by_orb(SystemException& exception) noexcept;

// Return what an operation's caller gets if the servant lets an exception pass that the ORB raised, in a call or in
// another function. The operation has begun, so it is COMPLETED_MAYBE, whatever happened to what the servant called.
// Exceptions that the servant constructs keep their completion status.
Error error_of_nested(const SystemException& raised) noexcept;
std::string text_of_nested(const SystemException& raised);

}  // namespace corelane::core
