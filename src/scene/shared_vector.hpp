#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace recon {

/// A copy-on-write vector: the models of the work items of a scene differ little, and contain millions of
/// observations. Reading is thread-safe, changing is not.
template <class T>
class SharedVector {
 public:
  SharedVector() = default;
  SharedVector(std::initializer_list<T> elements) : SharedVector(std::vector<T>(elements)) {}
  SharedVector(std::vector<T> elements)  // NOLINT(google-explicit-constructor): it replaces std::vector
      : elements_(elements.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(elements))) {}

  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  const T* begin() const { return get().data(); }
  const T* end() const { return get().data() + get().size(); }
  const T& operator[](std::size_t i) const { return get()[i]; }
  const T& at(std::size_t i) const { return get().at(i); }

  /// Mutable access to the elements; other copies are not affected.
  std::vector<T>& edit() {
    if (!elements_)
      elements_ = std::make_shared<std::vector<T>>();
    else if (elements_.use_count() > 1)
      elements_ = std::make_shared<std::vector<T>>(*elements_);
    return *elements_;
  }

  void push_back(T element) { edit().push_back(std::move(element)); }
  void clear() { elements_.reset(); }

 private:
  const std::vector<T>& get() const {
    static const std::vector<T> kNone;
    return elements_ ? *elements_ : kNone;
  }

  std::shared_ptr<std::vector<T>> elements_;
};

}  // namespace recon
