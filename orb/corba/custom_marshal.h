// Custom marshalling lets value types write and read their state themselves. CORBA 3.3 part 1, 5 (custom marshalling);
// IDL to C++11, 6.18.
//
// Threads: a stream is used on the thread that runs marshal() or unmarshal(). It ends with that call: later uses raise
// BAD_INV_ORDER. Data that cannot be read raise MARSHAL.
#pragma once

#include "orb/base/language.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/cdr/codec.h"
#include "orb/corba/abstract.h"
#include "orb/corba/value.h"

namespace CORBA {

class DataOutputStream {
 public:
  using _ref_type = valuetype_reference<DataOutputStream>;
  explicit DataOutputStream(::corelane::cdr::Writer& writer) : writer_(&writer) {}

  void write_any(const Any& value) { put(value); }
  void write_boolean(bool value) { put(value); }
  void write_char(char value) { put(value); }
  void write_wchar(wchar_t value) { put(value); }
  void write_octet(std::uint8_t value) { put(value); }
  void write_short(std::int16_t value) { put(value); }
  void write_ushort(std::uint16_t value) { put(value); }
  void write_long(std::int32_t value) { put(value); }
  void write_ulong(std::uint32_t value) { put(value); }
  void write_longlong(std::int64_t value) { put(value); }
  void write_ulonglong(std::uint64_t value) { put(value); }
  void write_float(float value) { put(value); }
  void write_double(double value) { put(value); }
  void write_longdouble(long double value) { put(value); }
  void write_string(const std::string& value) { put(value); }
  void write_wstring(const std::wstring& value) { put(value); }
  void write_Object(const object_reference<Object>& value) { put(value); }
  void write_Value(const valuetype_reference<ValueBase>& value) { put(value); }
  void write_Abstract(const abstractbase_reference<AbstractBase>& value) { put(value); }
  void write_TypeCode(const object_reference<TypeCode>& value) { put(value); }

  // Write `length` elements from `offset` on, without their number. BAD_PARAM if `v` has fewer.
  void write_any_array(const std::vector<Any>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_boolean_array(const std::vector<bool>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_char_array(const std::vector<char>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_wchar_array(const std::vector<wchar_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_octet_array(const std::vector<std::uint8_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_short_array(const std::vector<std::int16_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_ushort_array(const std::vector<std::uint16_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_long_array(const std::vector<std::int32_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_ulong_array(const std::vector<std::uint32_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_longlong_array(const std::vector<std::int64_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_ulonglong_array(const std::vector<std::uint64_t>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_float_array(const std::vector<float>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }
  void write_double_array(const std::vector<double>& v, std::uint32_t offset, std::uint32_t length) {
    put(v, offset, length);
  }

  void _close() noexcept { writer_ = nullptr; }

 private:
  ::corelane::cdr::Writer& writer() const;
  static void check(std::size_t size, std::uint32_t offset, std::uint32_t length);
  template <typename T>
  void put(const T& value) {
    encode(writer(), value);
  }
  template <typename T>
  void put(const std::vector<T>& values, std::uint32_t offset, std::uint32_t length) {
    check(values.size(), offset, length);
    for (std::uint32_t i = 0; i < length; ++i) encode(writer(), static_cast<const T&>(values[offset + i]));
  }

  ::corelane::cdr::Writer* writer_;
};

class DataInputStream {
 public:
  using _ref_type = valuetype_reference<DataInputStream>;
  explicit DataInputStream(::corelane::cdr::Reader& reader) : reader_(&reader) {}

  Any read_any() { return get<Any>(); }
  bool read_boolean() { return get<bool>(); }
  char read_char() { return get<char>(); }
  wchar_t read_wchar() { return get<wchar_t>(); }
  std::uint8_t read_octet() { return get<std::uint8_t>(); }
  std::int16_t read_short() { return get<std::int16_t>(); }
  std::uint16_t read_ushort() { return get<std::uint16_t>(); }
  std::int32_t read_long() { return get<std::int32_t>(); }
  std::uint32_t read_ulong() { return get<std::uint32_t>(); }
  std::int64_t read_longlong() { return get<std::int64_t>(); }
  std::uint64_t read_ulonglong() { return get<std::uint64_t>(); }
  float read_float() { return get<float>(); }
  double read_double() { return get<double>(); }
  long double read_longdouble() { return get<long double>(); }
  std::string read_string() { return get<std::string>(); }
  std::wstring read_wstring() { return get<std::wstring>(); }
  object_reference<Object> read_Object() { return get<object_reference<Object>>(); }
  valuetype_reference<ValueBase> read_Value() { return get<valuetype_reference<ValueBase>>(); }
  abstractbase_reference<AbstractBase> read_Abstract() { return get<abstractbase_reference<AbstractBase>>(); }
  object_reference<TypeCode> read_TypeCode() { return get<object_reference<TypeCode>>(); }

  // Read `length` elements into `v` from `offset` on; `v` grows if it is too short.
  void read_any_array(std::vector<Any>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }
  void read_boolean_array(std::vector<bool>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }
  void read_char_array(std::vector<char>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }
  void read_wchar_array(std::vector<wchar_t>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }
  void read_octet_array(std::vector<std::uint8_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_short_array(std::vector<std::int16_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_ushort_array(std::vector<std::uint16_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_long_array(std::vector<std::int32_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_ulong_array(std::vector<std::uint32_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_longlong_array(std::vector<std::int64_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_ulonglong_array(std::vector<std::uint64_t>& v, std::uint32_t offset, std::uint32_t length) {
    get(v, offset, length);
  }
  void read_float_array(std::vector<float>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }
  void read_double_array(std::vector<double>& v, std::uint32_t offset, std::uint32_t length) { get(v, offset, length); }

  void _close() noexcept { reader_ = nullptr; }

 private:
  ::corelane::cdr::Reader& reader() const;
  [[noreturn]] void raise_bad_data() const;
  template <typename T>
  T get() {
    T value{};
    if (!decode(reader(), value)) raise_bad_data();
    return value;
  }
  template <typename T>
  void get(std::vector<T>& values, std::uint32_t offset, std::uint32_t length) {
    for (std::uint32_t i = 0; i < length; ++i) {
      T value = get<T>();
      if (values.size() <= std::size_t{offset} + i) values.resize(std::size_t{offset} + i + 1);
      values[offset + i] = std::move(value);
    }
  }

  ::corelane::cdr::Reader* reader_;
};

// CustomMarshal is what the class of a custom value type implements. Exceptions of these functions pass to the sender
// or receiver of the value.
class CustomMarshal {
 public:
  virtual ~CustomMarshal() = default;
  virtual void marshal(valuetype_reference<DataOutputStream> stream) = 0;
  virtual void unmarshal(valuetype_reference<DataInputStream> stream) = 0;
};

}  // namespace CORBA

namespace IDL {

template <>
struct traits<::CORBA::DataOutputStream> {
  using ref_type = ::CORBA::valuetype_reference<::CORBA::DataOutputStream>;
};
template <>
struct traits<::CORBA::DataInputStream> {
  using ref_type = ::CORBA::valuetype_reference<::CORBA::DataInputStream>;
};

}  // namespace IDL

namespace corelane::core {

void marshal_custom(cdr::Writer& writer, const ::CORBA::CustomMarshal& value);
bool unmarshal_custom(cdr::Reader& reader, ::CORBA::CustomMarshal& value);

}  // namespace corelane::core
