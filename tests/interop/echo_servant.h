// The servants of interop.idl on Corelane.
//
// Threads: any. Each servant locks its state.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "interopS.h"

namespace interop {

class EchoServant : public virtual CORBA::servant_traits<Interop::Echo>::base_type {
 public:
  std::int32_t calls() override {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  void count() override {
    const std::lock_guard lock(mutex_);
    ++calls_;
  }
  std::string name() override {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void name(const std::string& value) override {
    const std::lock_guard lock(mutex_);
    name_ = value;
  }

  std::string spell(const std::string& text) override {
    constexpr char digits[] = "0123456789abcdef";
    std::string spelt;
    for (const char c : text) {
      const auto octet = static_cast<unsigned char>(c);
      spelt += digits[octet >> 4];
      spelt += digits[octet & 15];
    }
    return spelt;
  }
  std::uint8_t code_of(char c) override { return static_cast<std::uint8_t>(c); }
  std::uint32_t length_of(const std::wstring& text) override { return static_cast<std::uint32_t>(text.size()); }

  bool swap_boolean(bool a, bool& b, bool& c) override { return swap(a, b, c); }
  char swap_char(char a, char& b, char& c) override { return swap(a, b, c); }
  std::uint8_t swap_octet(std::uint8_t a, std::uint8_t& b, std::uint8_t& c) override { return swap(a, b, c); }
  std::int16_t swap_short(std::int16_t a, std::int16_t& b, std::int16_t& c) override { return swap(a, b, c); }
  std::uint16_t swap_ushort(std::uint16_t a, std::uint16_t& b, std::uint16_t& c) override { return swap(a, b, c); }
  std::int32_t swap_long(std::int32_t a, std::int32_t& b, std::int32_t& c) override { return swap(a, b, c); }
  std::uint32_t swap_ulong(std::uint32_t a, std::uint32_t& b, std::uint32_t& c) override { return swap(a, b, c); }
  std::int64_t swap_longlong(std::int64_t a, std::int64_t& b, std::int64_t& c) override { return swap(a, b, c); }
  std::uint64_t swap_ulonglong(std::uint64_t a, std::uint64_t& b, std::uint64_t& c) override { return swap(a, b, c); }
  float swap_float(float a, float& b, float& c) override { return swap(a, b, c); }
  double swap_double(double a, double& b, double& c) override { return swap(a, b, c); }
  std::string swap_string(const std::string& a, std::string& b, std::string& c) override { return swap(a, b, c); }
  Interop::Color swap_color(Interop::Color a, Interop::Color& b, Interop::Color& c) override { return swap(a, b, c); }
  Interop::Basics swap_basics(const Interop::Basics& a, Interop::Basics& b, Interop::Basics& c) override {
    return swap(a, b, c);
  }
  Interop::BasicsList swap_list(const Interop::BasicsList& a, Interop::BasicsList& b, Interop::BasicsList& c) override {
    return swap(a, b, c);
  }
  Interop::Blob swap_blob(const Interop::Blob& a, Interop::Blob& b, Interop::Blob& c) override { return swap(a, b, c); }
  Interop::Samples swap_samples(const Interop::Samples& a, Interop::Samples& b, Interop::Samples& c) override {
    return swap(a, b, c);
  }
  Interop::Texts swap_texts(const Interop::Texts& a, Interop::Texts& b, Interop::Texts& c) override {
    return swap(a, b, c);
  }
  Interop::Colors swap_colors(const Interop::Colors& a, Interop::Colors& b, Interop::Colors& c) override {
    return swap(a, b, c);
  }
  Interop::Flags swap_flags(const Interop::Flags& a, Interop::Flags& b, Interop::Flags& c) override {
    return swap(a, b, c);
  }
  Interop::Tree swap_tree(const Interop::Tree& a, Interop::Tree& b, Interop::Tree& c) override { return swap(a, b, c); }
  CORBA::object_reference<Interop::Echo> swap_echo(CORBA::object_reference<Interop::Echo> a,
                                                   CORBA::object_reference<Interop::Echo>& b,
                                                   CORBA::object_reference<Interop::Echo>& c) override {
    return swap(a, b, c);
  }

  Interop::Kinds swap_kinds(const Interop::Kinds& a, Interop::Kinds& b, Interop::Kinds& c) override {
    return swap(a, b, c);
  }
  Interop::Price swap_price(const Interop::Price& a, Interop::Price& b, Interop::Price& c) override {
    return swap(a, b, c);
  }
  CORBA::Any swap_any(const CORBA::Any& a, CORBA::Any& b, CORBA::Any& c) override { return swap(a, b, c); }

  CORBA::object_reference<Interop::Echo> self() override { return _this(); }
  Interop::Echoes many(std::uint32_t how_many) override { return Interop::Echoes(how_many, _this()); }
  Interop::Echo::Report get_report() override {
    return Interop::Echo::Report(Interop::Color::green, _this(), {"first", ""});
  }
  std::string tell(CORBA::object_reference<Interop::Listener> who, const std::string& text) override {
    return who->hear(text);
  }

  void fail(std::int32_t how) override {
    switch (how) {
      case 0:
        throw Interop::Refused("no", static_cast<std::int32_t>(Interop::refusal_code), Interop::Color::blue);
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

  void note(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    notes_.push_back(text);
    arrived_.notify_one();
  }
  std::string next_note() override {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !notes_.empty(); });
    std::string text = std::move(notes_.front());
    notes_.pop_front();
    return text;
  }

 private:
  template <typename T>
  static T swap(const T& a, T& b, T& c) {
    c = std::exchange(b, a);
    return a;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::int32_t calls_ = 0;
  std::string name_ = "corelane";
  std::deque<std::string> notes_;
};

class ListenerServant : public virtual CORBA::servant_traits<Interop::Listener>::base_type {
 public:
  std::string hear(const std::string& text) override { return "heard " + text; }
};

}  // namespace interop
