#include "orb/corba/custom_marshal.h"

#include "orb/base/minor.h"
#include "orb/core/exception.h"

namespace CORBA {
namespace {

[[noreturn]] void raise_closed() {
  using ::corelane::Completion, ::corelane::Error, ::corelane::ErrorKind;
  ::corelane::core::raise(Error{ErrorKind::bad_inv_order, Completion::no, ::corelane::minor::stream_closed});
}

}  // namespace

::corelane::cdr::Writer& DataOutputStream::writer() const {
  if (writer_ == nullptr) raise_closed();
  return *writer_;
}

void DataOutputStream::check(std::size_t size, std::uint32_t offset, std::uint32_t length) {
  using ::corelane::Completion, ::corelane::Error, ::corelane::ErrorKind;
  if (offset <= size && length <= size - offset) return;
  ::corelane::core::raise(Error{ErrorKind::bad_param, Completion::no, ::corelane::minor::bound_exceeded});
}

::corelane::cdr::Reader& DataInputStream::reader() const {
  if (reader_ == nullptr) raise_closed();
  return *reader_;
}

void DataInputStream::raise_bad_data() const { ::corelane::core::raise(reader_->error()); }

}  // namespace CORBA

namespace corelane::core {
namespace {

// Closes a stream when the call for which it was made ends.
template <typename Stream>
struct Closing {
  ::CORBA::valuetype_reference<Stream> stream;
  ~Closing() { stream->_close(); }
};
template <typename Stream, typename Data>
Closing<Stream> open(Data& data) {
  return {::CORBA::valuetype_reference<Stream>(std::make_shared<Stream>(data))};
}

}  // namespace

void marshal_custom(cdr::Writer& writer, const ::CORBA::CustomMarshal& value) {
  const auto closing = open<::CORBA::DataOutputStream>(writer);
  const_cast<::CORBA::CustomMarshal&>(value).marshal(closing.stream);  // the standard declares it non-const
}

bool unmarshal_custom(cdr::Reader& reader, ::CORBA::CustomMarshal& value) {
  const auto closing = open<::CORBA::DataInputStream>(reader);
  try {
    value.unmarshal(closing.stream);
  } catch (...) {
    if (!reader.ok()) return false;  // the reader already has the error
    reader.fail(minor::bad_value_state);
    throw;
  }
  return reader.ok();
}

}  // namespace corelane::core
