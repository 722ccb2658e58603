// UniqueFunction is a callable with one owner, so that it may hold move-only objects (std::move_only_function is
// C++23). Threads: a value type. Construction allocates, so it is not for the real-time path.
#pragma once

#include <cassert>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace corelane::os {

template <typename Signature>
class UniqueFunction;

template <typename R, typename... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, UniqueFunction> && std::is_invocable_r_v<R, F&, Args...>)
      UniqueFunction(F&& function)
      : target_(std::make_unique<Model<std::decay_t<F>>>(std::forward<F>(function))) {}

  explicit operator bool() const noexcept { return target_ != nullptr; }
  R operator()(Args... args) { return assert(target_), target_->call(std::forward<Args>(args)...); }

 private:
  struct Target {
    virtual ~Target() = default;
    virtual R call(Args... args) = 0;
  };
  template <typename F>
  struct Model final : Target {
    template <typename G>
    explicit Model(G&& g) : function(std::forward<G>(g)) {}
    R call(Args... args) override { return function(std::forward<Args>(args)...); }
    F function;
  };

  std::unique_ptr<Target> target_;
};

}  // namespace corelane::os
