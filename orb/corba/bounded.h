// The containers of bounded types: IDL::bounded_sequence, bounded_string, bounded_wstring and bounded_map. They are
// distinct types; IDL::traits<T>::bound gives their bound. IDL to C++11, 6.9 and 6.13.
//
// Each has the reading functions of the standard container, and checked versions of its writing functions. A change
// that would exceed the bound raises BAD_PARAM (bound_exceeded) and leaves the container unchanged. An unbounded
// container converts to it, with a check. It converts to a const reference to the unbounded one, so it can be passed
// wherever that is read. No function gives unchecked write access to the container inside.
// Threads: as the containers.
#pragma once

#include "orb/base/language.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "orb/any/desc_of.h"
#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "orb/corba/traits.h"
#include "orb/core/exception.h"

namespace corelane::core {

[[noreturn]] inline void raise_bound_exceeded() {
  raise(Error{ErrorKind::bad_param, Completion::no, minor::bound_exceeded});
}

// Bounded is the base of all bounded containers.
template <typename Container, std::uint32_t bound>
class Bounded {
 public:
  using container_type = Container;
  using value_type = typename Container::value_type;
  using size_type = typename Container::size_type;
  using difference_type = typename Container::difference_type;
  using reference = typename Container::reference;
  using const_reference = typename Container::const_reference;
  using iterator = typename Container::iterator;
  using const_iterator = typename Container::const_iterator;

  const Container& base() const noexcept { return items_; }
  operator const Container&() const noexcept { return items_; }

  iterator begin() noexcept { return items_.begin(); }
  iterator end() noexcept { return items_.end(); }
  const_iterator begin() const noexcept { return items_.begin(); }
  const_iterator end() const noexcept { return items_.end(); }
  bool empty() const noexcept { return items_.empty(); }
  size_type size() const noexcept { return items_.size(); }
  static constexpr size_type max_size() noexcept { return bound; }
  void clear() noexcept { items_.clear(); }
  auto erase(const_iterator at) { return items_.erase(at); }
  auto erase(const_iterator first, const_iterator last) { return items_.erase(first, last); }

  friend bool operator==(const Bounded& a, const Bounded& b) { return a.items_ == b.items_; }
  friend auto operator<=>(const Bounded& a, const Bounded& b) requires requires { a.items_ <=> b.items_; }
  { return a.items_ <=> b.items_; }

 protected:
  Bounded() = default;
  explicit Bounded(Container items) : items_(std::move(items)) { check(items_.size()); }

  static void check(size_type size) {
    if (size > bound) raise_bound_exceeded();
  }
  void check_room(size_type more) const {
    if (more > bound - items_.size()) raise_bound_exceeded();
  }
  // Applies a change of unknown final size to a copy first, and checks the copy's size.
  template <typename Change>
  void change(Change apply) {
    Container changed = items_;
    apply(changed);
    check(changed.size());
    items_ = std::move(changed);
  }

  Container items_;
};

// BoundedRow is the base of bounded vectors and strings.
template <typename Container, std::uint32_t bound>
class BoundedRow : public Bounded<Container, bound> {
  using Base = Bounded<Container, bound>;

 public:
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;
  using typename Base::value_type;

  decltype(auto) operator[](size_type i) { return this->items_[i]; }
  decltype(auto) operator[](size_type i) const { return this->items_[i]; }
  decltype(auto) at(size_type i) { return this->items_.at(i); }
  decltype(auto) at(size_type i) const { return this->items_.at(i); }
  decltype(auto) front() { return this->items_.front(); }
  decltype(auto) front() const { return this->items_.front(); }
  decltype(auto) back() { return this->items_.back(); }
  decltype(auto) back() const { return this->items_.back(); }
  auto data() noexcept { return this->items_.data(); }
  auto data() const noexcept { return this->items_.data(); }
  auto rbegin() noexcept { return this->items_.rbegin(); }
  auto rend() noexcept { return this->items_.rend(); }
  auto rbegin() const noexcept { return this->items_.rbegin(); }
  auto rend() const noexcept { return this->items_.rend(); }
  size_type capacity() const noexcept { return this->items_.capacity(); }
  void reserve(size_type size) { this->check(size), this->items_.reserve(size); }
  void pop_back() { this->items_.pop_back(); }
  void resize(size_type size) { this->check(size), this->items_.resize(size); }
  void resize(size_type size, const value_type& value) { this->check(size), this->items_.resize(size, value); }
  void push_back(const value_type& value) { this->check_room(1), this->items_.push_back(value); }
  void push_back(value_type&& value) { this->check_room(1), this->items_.push_back(std::move(value)); }
  void assign(size_type size, const value_type& value) { this->check(size), this->items_.assign(size, value); }
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    this->change([&](Container& items) { items.assign(first, last); });
  }
  iterator insert(const_iterator at, const value_type& value) {
    this->check_room(1);
    return this->items_.insert(at, value);
  }
  template <std::forward_iterator Iterator>
  iterator insert(const_iterator at, Iterator first, Iterator last) {
    this->check_room(static_cast<size_type>(std::distance(first, last)));
    return this->items_.insert(at, first, last);
  }

 protected:
  using Base::Base;
};

}  // namespace corelane::core

namespace IDL {

template <typename T, std::uint32_t bound>
class bounded_sequence : public ::corelane::core::BoundedRow<std::vector<T>, bound> {
  using Base = ::corelane::core::BoundedRow<std::vector<T>, bound>;

 public:
  using typename Base::const_iterator;
  using typename Base::iterator;

  bounded_sequence() = default;
  bounded_sequence(std::vector<T> items) : Base(std::move(items)) {}
  bounded_sequence(std::initializer_list<T> items) : Base(std::vector<T>(items)) {}
  explicit bounded_sequence(std::size_t size, const T& value = T()) { this->assign(size, value); }
  template <std::forward_iterator Iterator>
  bounded_sequence(Iterator first, Iterator last) {
    this->assign(first, last);
  }

  template <typename... Arguments>
  decltype(auto) emplace_back(Arguments&&... arguments) {
    this->check_room(1);
    return this->items_.emplace_back(std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  iterator emplace(const_iterator at, Arguments&&... arguments) {
    this->check_room(1);
    return this->items_.emplace(at, std::forward<Arguments>(arguments)...);
  }
  void swap(bounded_sequence& other) noexcept { this->items_.swap(other.items_); }
  friend void swap(bounded_sequence& a, bounded_sequence& b) noexcept { a.swap(b); }
};

template <typename Char, std::uint32_t bound>
class basic_bounded_string : public ::corelane::core::BoundedRow<std::basic_string<Char>, bound> {
  using String = std::basic_string<Char>;
  using View = std::basic_string_view<Char>;
  using Base = ::corelane::core::BoundedRow<String, bound>;

 public:
  static constexpr std::size_t npos = String::npos;

  basic_bounded_string() = default;
  basic_bounded_string(String text) : Base(std::move(text)) {}
  basic_bounded_string(const Char* text) : Base(String(text)) {}
  explicit basic_bounded_string(View text) : Base(String(text)) {}
  basic_bounded_string(std::size_t size, Char c) { this->assign(size, c); }

  operator View() const noexcept { return this->items_; }
  const Char* c_str() const noexcept { return this->items_.c_str(); }
  std::size_t length() const noexcept { return this->items_.size(); }
  std::size_t find(View text, std::size_t from = 0) const noexcept { return this->items_.find(text, from); }
  String substr(std::size_t from = 0, std::size_t count = npos) const { return this->items_.substr(from, count); }
  int compare(View text) const noexcept { return this->items_.compare(text); }

  basic_bounded_string& append(View text) {
    this->check_room(text.size());
    this->items_.append(text);
    return *this;
  }
  basic_bounded_string& operator+=(View text) { return append(text); }
  basic_bounded_string& operator+=(Char c) { return this->push_back(c), *this; }
  basic_bounded_string& replace(std::size_t from, std::size_t count, View text) {
    this->change([&](String& items) { items.replace(from, count, text); });
    return *this;
  }
  void swap(basic_bounded_string& other) noexcept { this->items_.swap(other.items_); }
  friend void swap(basic_bounded_string& a, basic_bounded_string& b) noexcept { a.swap(b); }

  friend bool operator==(const basic_bounded_string& a, const basic_bounded_string& b) { return a.items_ == b.items_; }
  friend bool operator==(const basic_bounded_string& a, const String& b) { return a.items_ == b; }
  friend bool operator==(const basic_bounded_string& a, const Char* b) { return a.items_ == b; }
  friend std::basic_ostream<Char>& operator<<(std::basic_ostream<Char>& out, const basic_bounded_string& text) {
    return out << text.items_;
  }
};

template <std::uint32_t bound>
using bounded_string = basic_bounded_string<char, bound>;
template <std::uint32_t bound>
using bounded_wstring = basic_bounded_string<wchar_t, bound>;

template <typename K, typename V, std::uint32_t bound>
class bounded_map : public ::corelane::core::Bounded<std::map<K, V>, bound> {
  using Base = ::corelane::core::Bounded<std::map<K, V>, bound>;

 public:
  using typename Base::iterator;
  using typename Base::value_type;

  bounded_map() = default;
  bounded_map(std::map<K, V> items) : Base(std::move(items)) {}
  bounded_map(std::initializer_list<value_type> items) : Base(std::map<K, V>(items)) {}

  V& operator[](const K& key) { return try_emplace(key).first->second; }
  V& at(const K& key) { return this->items_.at(key); }
  const V& at(const K& key) const { return this->items_.at(key); }
  auto find(const K& key) { return this->items_.find(key); }
  auto find(const K& key) const { return this->items_.find(key); }
  bool contains(const K& key) const { return this->items_.contains(key); }
  std::size_t erase(const K& key) { return this->items_.erase(key); }
  using Base::erase;
  std::pair<iterator, bool> insert(value_type item) { return try_emplace(item.first, std::move(item.second)); }
  template <typename... Arguments>
  std::pair<iterator, bool> try_emplace(const K& key, Arguments&&... arguments) {
    if (!this->items_.contains(key)) this->check_room(1);
    return this->items_.try_emplace(key, std::forward<Arguments>(arguments)...);
  }
  void swap(bounded_map& other) noexcept { this->items_.swap(other.items_); }
  friend void swap(bounded_map& a, bounded_map& b) noexcept { a.swap(b); }
};

template <typename T, std::uint32_t b>
struct traits<bounded_sequence<T, b>> : value_traits<bounded_sequence<T, b>> {
  using is_bounded = std::true_type;
  using bound = std::integral_constant<std::uint32_t, b>;
  using element_traits = traits<T>;
};
template <typename Char, std::uint32_t b>
struct traits<basic_bounded_string<Char, b>> : value_traits<basic_bounded_string<Char, b>> {
  using is_bounded = std::true_type;
  using bound = std::integral_constant<std::uint32_t, b>;
};
template <typename K, typename V, std::uint32_t b>
struct traits<bounded_map<K, V, b>> : value_traits<bounded_map<K, V, b>> {
  using is_bounded = std::true_type;
  using bound = std::integral_constant<std::uint32_t, b>;
};

}  // namespace IDL

namespace corelane::core {

template <typename Container, std::uint32_t bound>
void encode(cdr::Writer& writer, const Bounded<Container, bound>& value) {
  encode(writer, value.base());
}
// Refuses a length above the bound before it reads elements.
template <typename T>
requires requires(const T& value) {
  []<typename C, std::uint32_t n>(const Bounded<C, n>&) {}(value);
}
bool decode(cdr::Reader& reader, T& value) {
  typename T::container_type items;
  cdr::Reader ahead = reader;
  std::uint32_t count = 0;
  constexpr std::uint32_t terminator = std::is_same_v<typename T::value_type, char> ? 1 : 0;
  const bool counts = !std::is_same_v<typename T::value_type, wchar_t>;  // its length counts bytes, not characters
  if (counts && ahead.read(count) && count > T::max_size() + terminator) return reader.fail(minor::bound_exceeded);
  if (!decode(reader, items)) return false;
  if (items.size() > T::max_size()) return reader.fail(minor::bound_exceeded);
  value = T(std::move(items));
  return true;
}

}  // namespace corelane::core

namespace corelane::any {

template <Described T, std::uint32_t bound>
inline constexpr const TypeDesc* desc_of<::IDL::bounded_sequence<T, bound>> = &sequence_desc<T, bound>;
template <std::uint32_t bound>
inline constexpr TypeDesc bounded_string_desc{.kind = Kind::string, .length = bound};
template <std::uint32_t bound>
inline constexpr TypeDesc bounded_wstring_desc{.kind = Kind::wstring, .length = bound};
template <std::uint32_t bound>
inline constexpr const TypeDesc* desc_of<::IDL::bounded_string<bound>> = &bounded_string_desc<bound>;
template <std::uint32_t bound>
inline constexpr const TypeDesc* desc_of<::IDL::bounded_wstring<bound>> = &bounded_wstring_desc<bound>;

}  // namespace corelane::any
