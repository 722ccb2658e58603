// Any: a value of any IDL type, with that type. CORBA::Any stands on it.
//
// What arrives stays as bytes, checked against its type, until somebody asks for a C++ value; what a program puts in
// stays that C++ value until somebody sends it. Both are immutable and shared: a copy of an Any costs two counts.
// CORBA 3.3 part 2, 9.3.5.2. Threads: a value type.
#pragma once

#include <iosfwd>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "orb/any/desc_of.h"
#include "orb/any/type.h"
#include "orb/cdr/codec.h"

namespace corelane::any {

class Any {
 public:
  // Of type null.
  Any() = default;

  const TypeCode& type_code() const noexcept { return type_; }
  bool has_value() const noexcept { return value_ != nullptr; }
  void clear() noexcept { *this = Any(); }

  template <typename T>
  void insert(T value, TypeCode type) {
    type_ = std::move(type);
    value_ = std::make_shared<Typed<T>>(std::move(value));
  }

  // False, and `out` is as before, when the Any holds another type. `type` is that of T.
  template <typename T>
  bool extract(T& out, const TypeDesc& type) const {
    if (value_ == nullptr) return false;
    if (value_->type() == typeid(T)) return out = static_cast<const Typed<T>&>(*value_).value, true;
    T value{};
    const bool found = read(type, [&](cdr::Reader& reader) {
      cdr::Reader::Attempt attempt(reader);
      return decode(reader, value) && attempt.keep();
    });
    if (found) out = std::move(value);
    return found;
  }

  // The value as CDR behind whatever the writer has; and a look at it.
  void write_value(cdr::Writer& writer) const;
  // Takes a value of this type out of the reader: checked, and kept as bytes. False and a failed reader otherwise.
  bool read_value(cdr::Reader& reader, TypeCode type);
  // Another type that the same bytes have, such as an alias of its own. False when they are not equivalent.
  bool retype(TypeCode type);

  // Calls `look(reader)` with the value in bytes.
  template <typename Look>
  bool with_bytes(Look look) const {
    if (value_ == nullptr) return false;
    if (const Wire* wire = value_->wire()) {
      cdr::Reader reader = wire->reader();
      return look(reader);
    }
    cdr::Writer writer;
    value_->write(writer, *type_);
    if (!writer.ok()) return false;
    cdr::Reader reader(writer.bytes());
    return look(reader);
  }

 private:
  struct Wire;
  struct Content {
    virtual ~Content() = default;
    virtual const std::type_info& type() const noexcept = 0;
    virtual void write(cdr::Writer& writer, const TypeDesc& type) const = 0;
    virtual const Wire* wire() const noexcept { return nullptr; }
  };
  template <typename T>
  struct Typed final : Content {
    explicit Typed(T v) : value(std::move(v)) {}
    const std::type_info& type() const noexcept override { return typeid(T); }
    void write(cdr::Writer& writer, const TypeDesc&) const override { encode(writer, value); }
    const T value;
  };
  struct Wire final : Content {
    const std::type_info& type() const noexcept override { return typeid(Wire); }
    void write(cdr::Writer& writer, const TypeDesc& type) const override;
    const Wire* wire() const noexcept override { return this; }
    void rewrite(cdr::Writer& writer, const TypeDesc& type) const;
    cdr::Reader reader() const noexcept;
    bool take(cdr::Reader& in, const TypeDesc& type);

    std::vector<std::byte> bytes;
    std::size_t phase = 0;  // of the first byte, modulo 8
    ByteOrder order = native_order;
    cdr::WideForm wide_form = cdr::WideForm::counted;
    cdr::CodeSets code_sets;
    bool holds_values = false;
    std::shared_ptr<cdr::Environment> origin;
  };

  template <typename Look>
  bool read(const TypeDesc& wanted, Look look) const {
    return equivalent(*type_, wanted) && with_bytes(look);
  }

  TypeCode type_;
  std::shared_ptr<const Content> value_;
};

void encode(cdr::Writer& writer, const Any& any);
bool decode(cdr::Reader& reader, Any& any);

// "any(long 7)"; see walk.h.
void print(std::ostream& out, const Any& any);

}  // namespace corelane::any
