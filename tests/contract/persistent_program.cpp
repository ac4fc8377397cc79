// SPDX-License-Identifier: Apache-2.0
/// can.persistent is true: for every format of the list, a recorded step y = A x, sigma = <x, A x>
/// becomes the program of a persistent loop (solvers/loop/program.hpp) exactly where the descriptor
/// says so. Elsewhere the program says which operation it lacks. Recordings are read on the host,
/// so that a build without a device finds a wrong descriptor too.
#include <tcsolve/formats/format.hpp>
#include <tcsolve/io/generate/generators.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/solvers/loop/program.hpp>

#include "tests/support/backend.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

/// A format by its place in formats(), on a backend.
struct ProgramCase {
  Backend backend;
  Format const* format;
  std::string label() const { return cat(test::label(backend), "_", format->name); }
  friend void PrintTo(ProgramCase const& c, std::ostream* out) { *out << c.label(); }
};
std::vector<ProgramCase> program_cases() {
  std::vector<ProgramCase> cases;
  for (Backend backend : backends())
    for (Format const& format : tcsolve::formats()) cases.push_back({backend, &format});
  return cases;
}

class PersistentProgram : public ::testing::TestWithParam<ProgramCase> {
 protected:
  void SetUp() override { open_context(GetParam().backend, ctx_); }

  /// Why y = A x, sigma = <x, A x> cannot be part of a persistent loop; empty where it can.
  template <class T, class S>
  std::string why_not(Csr<double> const& a) {
    Csr<S> const stored = converted<S>(a);
    auto const A = GetParam().format->make<T, S>(*ctx_, stored.view());
    Guarded<T> x(*ctx_, rounded<T>(random_values(a.cols, 1)));
    Guarded<T> y(*ctx_, std::vector<double>(a.rows));
    There<double> sigma(*ctx_, 0.0);
    Recording const step =
        ctx_->record([&](Context& c) { A->apply_dot(c, x.in(), y.view(), sigma.data()); });
    LoopProgram const loop = loop_program(step, 10, 512);
    EXPECT_EQ(loop.why.empty(), !loop.list.empty()) << loop.why;
    if (loop.why.empty() && std::is_same_v<T, double>)
      EXPECT_EQ(cache_share(step), GetParam().format->can.cache_share);
    return loop.why;
  }

 private:
  std::unique_ptr<Context> ctx_;
};
INSTANTIATE_TEST_SUITE_P(Formats, PersistentProgram, ::testing::ValuesIn(program_cases()),
                         [](auto const& info) { return info.param.label(); });

/// Of a symmetric and of an unsymmetric matrix, which a format may store in different ways.
std::vector<Named> grids() {
  return {{"symmetric", generate(Poisson7Params{.n = 6})},
          {"symmetric, 27 diagonals", generate(Poisson27Params{.n = 5})},
          {"unsymmetric", banded(216, 3, 4, 5)}};
}

TEST_P(PersistentProgram, IsThereExactlyWhereTheFormatSaysSo) {
  Format const& format = *GetParam().format;
  for (Named const& m : grids()) {
    SCOPED_TRACE(m.name);
    std::string const why = why_not<double, double>(m.matrix);
    EXPECT_EQ(why.empty(), format.can.persistent) << why;
  }
}

TEST_P(PersistentProgram, IsThereForFp32Likewise) {
  Format const& format = *GetParam().format;
  for (Named const& m : grids()) {
    SCOPED_TRACE(m.name);
    std::string const why = why_not<float, float>(m.matrix);
    EXPECT_EQ(why.empty(), format.can.persistent) << why;
    EXPECT_EQ((why_not<float, half>(m.matrix)).empty(), format.can.persistent);
    EXPECT_EQ((why_not<float, bfloat16>(m.matrix)).empty(), format.can.persistent);
  }
}

/// A loop that took another type would compute other numbers unasked.
TEST_P(PersistentProgram, IsNotThereForValuesNarrowerThanFp64Vectors) {
  for (Named const& m : grids()) {
    SCOPED_TRACE(m.name);
    EXPECT_NE((why_not<double, float>(m.matrix)), "");
    EXPECT_NE((why_not<double, half>(m.matrix)), "");
    EXPECT_NE((why_not<double, bfloat16>(m.matrix)), "");
  }
}

}  // namespace
}  // namespace tcsolve::test
