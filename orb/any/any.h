// Any holds a value of any IDL type, with its type. CORBA::Any is built on it.
//
// A received value stays as bytes, checked against its type, until a program asks for a C++ value. A value that a
// program inserts stays a C++ value until it is sent. Both forms are immutable and shared: a copy of an Any only
// increments two reference counts. CORBA 3.3 part 2, 9.3.5.2. Threads: a value type.
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
  // An Any of type null.
  Any() = default;

  const TypeCode& type_code() const noexcept { return type_; }
  bool has_value() const noexcept { return value_ != nullptr; }
  void clear() noexcept { *this = Any(); }

  template <typename T>
  void insert(T value, TypeCode type) {
    type_ = std::move(type);
    value_ = std::make_shared<Typed<T>>(std::move(value));
  }

  // Copies the value into `out`. Returns false and leaves `out` unchanged if the Any holds another type. `type` is that
  // of T.
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

  // Appends the value as CDR to the writer.
  void write_value(cdr::Writer& writer) const;
  // Reads a value of this type, checks it, and keeps it as bytes. Otherwise returns false with a failed reader.
  bool read_value(cdr::Reader& reader, TypeCode type);
  // Changes the type to an equivalent one with the same bytes, such as an alias. Returns false if they are not
  // equivalent.
  bool retype(TypeCode type);

  // Calls `look(reader)` with the encoded value, and returns its result.
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
    std::size_t phase = 0;  // position of the first byte, modulo 8
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

// Prints, for example, "any(long 7)"; see walk.h.
void print(std::ostream& out, const Any& any);

}  // namespace corelane::any
