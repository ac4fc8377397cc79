// SPDX-License-Identifier: Apache-2.0
/// PETSc's binary files: several objects in one, other builds, and what the values give away.
#include <tcsolve/core/error.hpp>
#include <tcsolve/io/files/matrix_file.hpp>
#include <tcsolve/io/files/petsc_scalars.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/support/files.hpp"
#include "tests/support/matrices.hpp"

namespace tcsolve::test {
namespace {

using Values = std::vector<double>;

template <class F>
std::string fault(F const& f) {
  try {
    f();
  } catch (Error const& e) { return e.what(); }
  return "nothing";
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

std::string big(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  return out;
}
std::string f64(double v) { return big(std::bit_cast<std::uint64_t>(v), 8); }
std::string f32(float v) { return big(std::bit_cast<std::uint32_t>(v), 4); }
std::string complex64(float re, float im) { return f32(re) + f32(im); }

/// Real numbers as a build writes them.
struct Build {
  int integers = 4;
  std::string (*real)(double) = f64;

  std::string vector(Values const& values) const {
    std::string out = big(1211214, integers) + big(values.size(), integers);
    for (double const v : values) out += real(v);
    return out;
  }
  /// 2 x 2, rows (2 1), (0 3).
  std::string matrix(Values const& values = {2, 1, 3}) const {
    std::string out;
    for (std::uint64_t const v : {1211216, 2, 2, 3, 2, 1, 0, 1, 1}) out += big(v, integers);
    for (double const v : values) out += real(v);
    return out;
  }
};
std::string single(double v) { return f32(static_cast<float>(v)); }
std::string complex128(double v) { return f64(v) + f64(0); }

TEST(Petsc, VectorsBehindTheMatrixAreBAndX0) {
  for (int const integers : {4, 8}) {
    Build const build{integers};
    std::string const indices =
        big(1211218, integers) + big(2, integers) + big(5, integers) + big(6, integers);
    std::string const file = build.matrix() + indices + build.vector({5, 6}) + build.vector({7, 8});
    EXPECT_EQ(parse_matrix(file).values, (Values{2, 1, 3}));
    EXPECT_EQ(parse_vector_file(file, "b"), (Values{5, 6}));
    EXPECT_EQ(parse_vector_file(file, "x0"), (Values{7, 8}));
    EXPECT_TRUE(has(fault([&] { parse_vector_file(file, "x"); }), "there are only b and x0"));
    std::string const one = build.matrix() + build.vector({5, 6});
    EXPECT_TRUE(has(fault([&] { parse_vector_file(one, "x0"); }), "there is only b"));
    EXPECT_TRUE(has(fault([&] { parse_vector_file(build.matrix(), "b"); }), "there is none"));
    TemporaryFolder const folder;
    MatrixFileSize const both = matrix_file_size(write_text(folder / "both", file)),
                         only_b = matrix_file_size(write_text(folder / "b", one)),
                         alone = matrix_file_size(write_text(folder / "a", build.matrix()));
    EXPECT_TRUE(both.holds_rhs && both.holds_guess);
    EXPECT_TRUE(only_b.holds_rhs && !only_b.holds_guess);
    EXPECT_FALSE(alone.holds_rhs || alone.holds_guess);
    EXPECT_TRUE(has(alone.assumed, "read as real float64; the file does not say"));
  }
}

TEST(Petsc, SeveralVectorsAreANullspaceAndDenseMatricesColumns) {
  Build const build;
  std::string const two = build.vector({1, 2}) + build.vector({3, 4});
  EXPECT_EQ(parse_columns_file(two, "z").values, (Values{1, 2, 3, 4}));
  EXPECT_EQ(parse_columns_file(two, "b").values, (Values{1, 2}));
  EXPECT_TRUE(has(fault([&] { parse_columns_file(two + build.vector({5}), "z"); }),
                  "a vector of 1 entries; the first has 2"));
  std::string dense = big(1211216, 4) + big(2, 4) + big(3, 4) + big(0xffffffff, 4);
  for (double const v : {1, 3, 5, 2, 4, 6}) dense += f64(v);
  Columns const x = parse_columns_file(dense, "b");
  EXPECT_EQ(x.cols, 3);
  EXPECT_EQ(x.values, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_NE(fault([&] { parse_columns_file(dense.substr(0, 40), "b"); }), "nothing");
}

TEST(Petsc, OtherBuildsAreNamedByTheSizeOfTheFile) {
  std::string const narrow = Build{4, single}.matrix() + Build{4, single}.vector({5, 6});
  std::string const message = fault([&] { parse_matrix(narrow); });
  EXPECT_TRUE(has(message, "float32 (problem.petsc: {scalar: float32})")) << message;
  ReadOptions const float32{.petsc = PetscScalar::float32};
  EXPECT_EQ(parse_matrix(narrow, "file", float32).values, (Values{2, 1, 3}));
  EXPECT_EQ(parse_vector_file(narrow, "b", "file", float32), (Values{5, 6}));
  std::string const wide = Build{8, complex128}.matrix();
  EXPECT_TRUE(has(fault([&] { parse_matrix(wide); }), "complex float64, or of quadruple"));
  EXPECT_TRUE(has(fault([&] { parse_matrix(Build{}.matrix(), "file", float32); }),
                  "float64 (problem.petsc: {scalar: float64})"));
}

/// Pairs of float32 have the size of float64.
TEST(Petsc, ComplexSinglePrecisionIsSuspected) {
  auto const matrix = [](std::string const& a, std::string const& b, std::string const& c,
                         std::string const& d) {
    std::string out;
    for (std::uint64_t const v : {1211216, 2, 2, 4, 2, 2, 0, 1, 0, 1}) out += big(v, 4);
    return out + a + b + c + d;
  };
  std::string const hermitian =
      matrix(complex64(4, 0), complex64(-0.1f, 0.7f), complex64(-0.1f, -0.7f), complex64(4, 0));
  std::string const general =
      matrix(complex64(4, 0), complex64(-1, 1), complex64(2, 0.5f), complex64(4, 0));
  for (std::string const& file : {hermitian, general}) {
    std::string const message = fault([&] { parse_matrix(file); });
    EXPECT_TRUE(has(message, "look like pairs of float32")) << message;
    EXPECT_TRUE(has(message, "[Re -Im; Im Re]")) << message;
    EXPECT_TRUE(has(message, "problem.petsc: {scalar: float64}")) << message;
    EXPECT_EQ(parse_matrix(file, "file", {.petsc = PetscScalar::float64}).entries(), 4);
  }
}

TEST(Petsc, RealValuesAreNotSuspected) {
  for (auto const& [name, a] : adversarial()) EXPECT_EQ(complex_suspicion(a), "") << name;
  std::uint64_t state = 1;
  auto const random = [&] { return double((state = 6364136223846793005u * state + 1) >> 11); };
  for (int trial = 0; trial < 1000; ++trial) {
    Values v, narrow, decimal, integers;
    for (int k = 0; k < 8; ++k) {
      v.push_back(random() * 0x1p-53 - 0.5);
      narrow.push_back(static_cast<float>(v.back()));
      decimal.push_back(std::round(100 * v.back()) / 100);
      integers.push_back(random());
    }
    for (Values const& values : {v, narrow, decimal, integers})
      EXPECT_EQ(complex_suspicion(values), "") << trial;
  }
}

TEST(Petsc, SharedCases) {
  std::filesystem::path const folder = shared_case("20-petsc-ex72-binary-one-file");
  if (folder.empty()) GTEST_SKIP() << "the shared cases are not here";
  for (char const* name : {"hpd-complex-int32-float32", "nh-complex-int32-float32"})
    EXPECT_TRUE(has(fault([&] { read_matrix(folder / name); }), "pairs of float32")) << name;
  for (char const* name : {"spd-real-int32-float64", "ns-real-int64-float64"}) {
    EXPECT_EQ(read_matrix(folder / name).rows, 12) << name;
    EXPECT_EQ(read_vector_file(folder / name, "b").size(), 12u) << name;
  }
  EXPECT_EQ(read_matrix(folder / "spd-real-int32-float32", {.petsc = PetscScalar::float32}),
            read_matrix(folder / "spd-real-int32-float64"));
  EXPECT_EQ(read_vector_file(folder / "tiny_system_with_x0", "x0").size(), 4u);
}

}  // namespace
}  // namespace tcsolve::test
