// The servants of interop.idl on omniORB. A program never links both this and Corelane.
#pragma once

#include <condition_variable>
#include <deque>
#include <interop.hh>
#include <mutex>
#include <stdexcept>
#include <string>

namespace interop {

// Both peers answer alike: the result and b become a; c becomes what b was. omniORB passes fixed-size and variable
// types in different ways, so each has its own function.
class OmniEcho : public POA_Interop::Echo {
 public:
  CORBA::Long calls() override { return calls_; }
  void count() override { ++calls_; }
  char* name() override { return CORBA::string_dup(name_.c_str()); }
  void name(const char* value) override { name_ = value; }

  char* spell(const char* text) override {
    static const char digits[] = "0123456789abcdef";
    std::string spelt;
    for (; *text != 0; ++text) {
      const unsigned octet = static_cast<unsigned char>(*text);
      spelt += digits[octet >> 4];
      spelt += digits[octet & 15];
    }
    return CORBA::string_dup(spelt.c_str());
  }
  CORBA::Octet code_of(CORBA::Char c) override { return static_cast<CORBA::Octet>(c); }
  CORBA::ULong length_of(const CORBA::WChar* text) override {
    CORBA::ULong length = 0;
    while (text[length] != 0) ++length;
    return length;
  }

  CORBA::Boolean swap_boolean(CORBA::Boolean a, CORBA::Boolean& b, CORBA::Boolean& c) override { return swap(a, b, c); }
  CORBA::Char swap_char(CORBA::Char a, CORBA::Char& b, CORBA::Char& c) override { return swap(a, b, c); }
  CORBA::Octet swap_octet(CORBA::Octet a, CORBA::Octet& b, CORBA::Octet& c) override { return swap(a, b, c); }
  CORBA::Short swap_short(CORBA::Short a, CORBA::Short& b, CORBA::Short& c) override { return swap(a, b, c); }
  CORBA::UShort swap_ushort(CORBA::UShort a, CORBA::UShort& b, CORBA::UShort& c) override { return swap(a, b, c); }
  CORBA::Long swap_long(CORBA::Long a, CORBA::Long& b, CORBA::Long& c) override { return swap(a, b, c); }
  CORBA::ULong swap_ulong(CORBA::ULong a, CORBA::ULong& b, CORBA::ULong& c) override { return swap(a, b, c); }
  CORBA::LongLong swap_longlong(CORBA::LongLong a, CORBA::LongLong& b, CORBA::LongLong& c) override {
    return swap(a, b, c);
  }
  CORBA::ULongLong swap_ulonglong(CORBA::ULongLong a, CORBA::ULongLong& b, CORBA::ULongLong& c) override {
    return swap(a, b, c);
  }
  CORBA::Float swap_float(CORBA::Float a, CORBA::Float& b, CORBA::Float& c) override { return swap(a, b, c); }
  CORBA::Double swap_double(CORBA::Double a, CORBA::Double& b, CORBA::Double& c) override { return swap(a, b, c); }
  Interop::Color swap_color(Interop::Color a, Interop::Color& b, Interop::Color& c) override { return swap(a, b, c); }
  char* swap_string(const char* a, char*& b, CORBA::String_out c) override {
    c = b;
    b = CORBA::string_dup(a);
    return CORBA::string_dup(a);
  }
  Interop::Basics* swap_basics(const Interop::Basics& a, Interop::Basics& b, Interop::Basics_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::BasicsList* swap_list(const Interop::BasicsList& a, Interop::BasicsList& b,
                                 Interop::BasicsList_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Blob* swap_blob(const Interop::Blob& a, Interop::Blob& b, Interop::Blob_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Samples* swap_samples(const Interop::Samples& a, Interop::Samples& b, Interop::Samples_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Texts* swap_texts(const Interop::Texts& a, Interop::Texts& b, Interop::Texts_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Colors* swap_colors(const Interop::Colors& a, Interop::Colors& b, Interop::Colors_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Flags* swap_flags(const Interop::Flags& a, Interop::Flags& b, Interop::Flags_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Tree* swap_tree(const Interop::Tree& a, Interop::Tree& b, Interop::Tree_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Echo_ptr swap_echo(Interop::Echo_ptr a, Interop::Echo_ptr& b, Interop::Echo_out c) override {
    c = b;
    b = Interop::Echo::_duplicate(a);
    return Interop::Echo::_duplicate(a);
  }

  Interop::Kinds* swap_kinds(const Interop::Kinds& a, Interop::Kinds& b, Interop::Kinds_out c) override {
    return swap_copies(a, b, c);
  }
  Interop::Price swap_price(const Interop::Price& a, Interop::Price& b, Interop::Price_out c) override {
    c = b;
    b = a;
    return a;
  }
  CORBA::Any* swap_any(const CORBA::Any& a, CORBA::Any& b, CORBA::Any_OUT_arg c) override {
    return swap_copies(a, b, c);
  }

  Interop::Echo_ptr self() override { return _this(); }
  Interop::Echoes* many(CORBA::ULong how_many) override {
    auto* echoes = new Interop::Echoes;
    echoes->length(how_many);
    for (CORBA::ULong i = 0; i < how_many; ++i) (*echoes)[i] = _this();
    return echoes;
  }
  Interop::Echo::Report* get_report() override {
    auto* report = new Interop::Echo::Report;
    report->tint = Interop::green;
    report->source = _this();
    report->lines.length(2);
    report->lines[0] = "first";
    report->lines[1] = "";
    return report;
  }
  char* tell(Interop::Listener_ptr who, const char* text) override { return who->hear(text); }

  void fail(CORBA::Long how) override {
    switch (how) {
      case 0:
        throw Interop::Refused("no", 37, Interop::blue);
      case 1:
        throw Interop::Plain();
      case 2:
        throw CORBA::BAD_PARAM(42, CORBA::COMPLETED_MAYBE);
      case 3:
        throw CORBA::TRANSIENT(7, CORBA::COMPLETED_NO);
      case 4:
        throw CORBA::NO_IMPLEMENT(1, CORBA::COMPLETED_YES);
      default:
        throw std::runtime_error("not for the wire");
    }
  }

  void note(const char* text) override {
    const std::lock_guard lock(mutex_);
    notes_.emplace_back(text);
    arrived_.notify_one();
  }
  char* next_note() override {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !notes_.empty(); });
    const std::string text = notes_.front();
    notes_.pop_front();
    return CORBA::string_dup(text.c_str());
  }

 private:
  template <typename T>
  static T swap(T a, T& b, T& c) {
    c = b;
    b = a;
    return a;
  }
  template <typename T, typename Out>
  static T* swap_copies(const T& a, T& b, Out& c) {
    c = new T(b);
    b = a;
    return new T(a);
  }

  CORBA::Long calls_ = 0;
  std::string name_ = "omni";
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> notes_;
};

class OmniListener : public POA_Interop::Listener {
 public:
  char* hear(const char* text) override { return CORBA::string_dup((std::string("heard ") + text).c_str()); }
};

}  // namespace interop
