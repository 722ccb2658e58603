// Fuzz target: any bytes are values of values.idl or are refused. Accepted values are sent in another byte order and
// alignment, read again, copied and printed. Circles are broken at the end, so that a leak is a finding. The first byte
// selects byte order and alignment, the second the declared type of the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <sstream>
#include <vector>

#include "orb/any/value_write.h"
#include "orb/corba/orb.h"
#include "orb/corba/portable_server.h"
#include "orb/core/client/reference.h"
#include "valuesC.h"

using namespace corelane;

namespace {

class Packed final : public IDL::traits<Values::Packed>::obv_type {
 public:
  void marshal(CORBA::DataOutputStream::_ref_type stream) override {
    stream->write_Value(inner_);
    stream->write_long(number());
  }
  void unmarshal(CORBA::DataInputStream::_ref_type stream) override {
    inner_ = stream->read_Value();
    number(stream->read_long());
  }
  void _let_go() override { inner_ = nullptr; }

 private:
  CORBA::valuetype_reference<CORBA::ValueBase> inner_;
};

class Note final : public IDL::traits<Values::Note>::obv_type {
 public:
  std::string describe(const std::string& how) override { return how; }
  std::int32_t mark() override { return 1; }
  void mark(std::int32_t) override {}
  std::int32_t weight() override { return 2; }
};

template <typename Class, typename Init>
struct FactoryOf final : Init {
  CORBA::valuetype_reference<CORBA::ValueBase> create_for_unmarshal() override {
    return CORBA::make_reference<Class>();
  }
};

template <typename Factory>
void make_known(CORBA::ORB& orb) {
  const auto factory = CORBA::make_reference<Factory>();
  orb.register_value_factory(factory->_obv_repository_id(), factory);
}

// Returns the ORB of the references that arrive. Nothing here makes calls.
std::shared_ptr<CORBA::ORB> start() {
  char name[] = "fuzz", ledger[] = "-ORBRuntimeLedger", off[] = "off";
  char* words[] = {name, ledger, off, nullptr};
  int count = 3;
  auto orb = CORBA::ORB_init(count, words).shared();
  make_known<Values::Node_init>(*orb);
  make_known<Values::Base_init>(*orb);
  make_known<Values::Middle_init>(*orb);
  make_known<Values::Leaf_init>(*orb);
  make_known<FactoryOf<Packed, Values::Packed_init>>(*orb);
  make_known<FactoryOf<Note, Values::Note_init>>(*orb);
  return orb;
}

// Breaks all circles in the written values.
void let_go(cdr::Writer& writer) {
  for (const auto& [value, entry] : any::WrittenValues::of(writer).values) const_cast<any::Value*>(value)->_let_go();
}

template <typename T>
void print(std::ostream& out, const T& value) {
  out << value;
}

template <typename T>
void check(const cdr::Reader& arrived, core::ReferenceEnvironment& environment, ByteOrder other, std::size_t offset) {
  T value{}, back{};
  {
    cdr::Reader reader = arrived;
    reader.set_environment(&environment);
    if (!decode(reader, value)) return;
  }
  cdr::Writer writer(other, offset);
  encode(writer, value);
  if (writer.ok()) {
    const std::vector<std::byte> sent = writer.to_vector();
    cdr::Reader again(sent, other, offset);
    again.set_environment(&environment);
    if (!decode(again, back)) std::abort();
    std::ostringstream text;
    print(text, back);
    cdr::Writer second(other, offset);
    encode(second, back);
    if (!second.ok() || second.to_vector() != sent) std::abort();
    let_go(second);
  }
  let_go(writer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<CORBA::ORB> orb = start();
  if (size < 2) return 0;
  const ByteOrder order = data[0] % 2 == 0 ? ByteOrder::little : ByteOrder::big;
  const ByteOrder other = order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
  const std::size_t offset = data[0] / 2 % 8;
  const cdr::Reader reader(std::as_bytes(std::span(data + 2, size - 2)), order, offset);
  core::ReferenceEnvironment environment(orb);
  switch (data[1] % 8) {
    case 0:
      check<CORBA::valuetype_reference<Values::Node>>(reader, environment, other, 7 - offset);
      break;
    case 1:
      check<CORBA::valuetype_reference<Values::Base>>(reader, environment, other, 7 - offset);
      break;
    case 2:
      check<CORBA::valuetype_reference<Values::Packed>>(reader, environment, other, 7 - offset);
      break;
    case 3:
      check<CORBA::valuetype_reference<Values::NumbersBox>>(reader, environment, other, 7 - offset);
      break;
    case 4:
      check<Values::Holder>(reader, environment, other, 7 - offset);
      break;
    case 5:
      check<Values::Choice>(reader, environment, other, 7 - offset);
      break;
    case 6:
      check<CORBA::abstractbase_reference<Values::Weighed>>(reader, environment, other, 7 - offset);
      break;
    default:
      check<CORBA::Any>(reader, environment, other, 7 - offset);
  }
  return 0;
}
