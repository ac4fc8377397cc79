// SPDX-License-Identifier: Apache-2.0
/// The generators of io/ as entries of a registry: `generator: {type: poisson27, n: 96}`.
#pragma once

#include <tcsolve/configs/registry.hpp>
#include <tcsolve/io/generate/generators.hpp>

namespace tcsolve {

/// A matrix that can be made, with its parameters fixed.
class Generator {
 public:
  virtual ~Generator() = default;
  virtual MatrixSize size() const = 0;
  /// Whether make_rows() does.
  virtual bool has_rows_apart() const = 0;
  /// Throws Cancelled where the workers are told to stop.
  virtual Csr<double> make_rows(RowRange, Workers const& workers = {}) const = 0;
  Csr<double> make(Workers const& workers = {}) const {
    return make_rows({0, size().rows}, workers);
  }
};

template <class P>
class GeneratorOf final : public Generator {
 public:
  using Params = P;
  explicit GeneratorOf(P const& params) : params_(params) {}
  MatrixSize size() const override { return size_of(params_); }
  bool has_rows_apart() const override { return tcsolve::has_rows_apart(params_); }
  Csr<double> make_rows(RowRange rows, Workers const& workers) const override {
    return generate_rows(params_, rows, workers);
  }

 private:
  P params_;
};

using GeneratorRegistry = Registry<Generator>;

/// Registers every kind that generators() lists.
inline void register_generators(GeneratorRegistry& r) {
  for (GeneratorEntry const& entry : generators())
    std::visit(
        [&]<class P>(P const&) {
          r.add<GeneratorOf<P>>(std::string(entry.name), std::string(entry.summary));
        },
        entry.defaults);
}

}  // namespace tcsolve
