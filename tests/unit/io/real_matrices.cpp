// SPDX-License-Identifier: Apache-2.0
/// Real matrices: the folder that the environment variable TCSOLVE_MATRICES names holds
/// NAME.mtx.xz.
#include <tcsolve/io/files/matrix_market.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

namespace tcsolve {
namespace {

struct Known {
  char const* name;
  Index rows, cols;
  Offset entries;  // both triangles, stored zeros included
};
std::ostream& operator<<(std::ostream& out, Known const& m) { return out << m.name; }

constexpr Known known[] = {
    {"bcsstk03", 112, 112, 640},
    {"1138_bus", 1138, 1138, 4054},
    {"west1505", 1505, 1505, 5445},
    {"adder_dcop_05", 1813, 1813, 11097},
    {"orsreg_1", 2205, 2205, 14133},
    {"hangGlider_2", 1647, 1647, 14754},
    {"add20", 2395, 2395, 17319},
    {"sherman5", 3312, 3312, 20793},
    {"bcsstk10", 1086, 1086, 22070},
    {"sherman2", 1080, 1080, 23094},
    {"mbeacxc", 496, 496, 49920},
    {"fidap007", 1633, 1633, 54487},
    {"cavity14", 2597, 2597, 76367},
    {"bcsstk13", 2003, 2003, 83883},
    {"ani5_crop", 12561, 12561, 86227},
    {"bayer10", 13436, 13436, 94926},
    {"ex15", 6867, 6867, 98671},
    {"maxwell_S", 3630, 3630, 103230},
    {"memplus", 17758, 17758, 126150},
    {"case9241pegase_jac", 17036, 17036, 128719},
    {"lp_maros_r7", 3136, 9408, 144848},
    {"cage10", 11397, 11397, 150645},
    {"Groebner_id2003_aug", 4967, 2456, 173670},
    {"s1rmt3m1", 5489, 5489, 219521},
    {"xyce_59070", 59070, 59070, 288510},
    {"bcsstk16", 4884, 4884, 290378},
    {"nsjac", 15444, 15444, 397476},
    {"bcsstk17", 10974, 10974, 428650},
    {"af23560", 23560, 23560, 484256},
    {"c-62", 41731, 41731, 559343},
    {"lp_nw04", 36, 87482, 636666},
    {"bunny_thermal_r1", 44194, 44194, 662990},
    {"NotreDame_www", 325729, 325729, 929849},
    {"tripod_elast_p2", 16179, 16179, 1092291},
    {"xenon1", 48600, 48600, 1181120},
    {"mdual_lap", 258569, 258569, 1284833},
    {"dragon_cotlap", 437645, 437645, 3056157},
    {"tripod_convdiff_r3", 264293, 264293, 3739969},
    {"tripod_elast_r2", 108939, 108939, 4384079},
};

std::filesystem::path matrix_file(std::string const& name) {
  char const* const folder = std::getenv("TCSOLVE_MATRICES");
  return folder ? std::filesystem::path(folder) / (name + ".mtx.xz") : std::filesystem::path();
}

class RealMatrices : public testing::TestWithParam<Known> {};

TEST_P(RealMatrices, HaveTheirSize) {
  auto const path = matrix_file(GetParam().name);
  if (path.empty()) GTEST_SKIP() << "TCSOLVE_MATRICES is unset";
  auto const a = read_matrix_market(path);
  EXPECT_EQ(a.rows, GetParam().rows);
  EXPECT_EQ(a.cols, GetParam().cols);
  EXPECT_EQ(a.entries(), GetParam().entries);
  EXPECT_NO_THROW(validate(a.view()));
}

INSTANTIATE_TEST_SUITE_P(Io, RealMatrices, testing::ValuesIn(known), [](auto const& test) {
  std::string name = test.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(RealMatrix, ComplexIsRefusedByName) {
  auto const path = matrix_file("conf5.0-00l4x4-1000");
  if (path.empty()) GTEST_SKIP() << "TCSOLVE_MATRICES is unset";
  try {
    read_matrix_market(path);
    FAIL() << "a complex matrix was read";
  } catch (MatrixError const& e) {
    EXPECT_EQ(std::string(e.what()),
              path.string() +
                  ":1: the matrix is complex; tcsolve solves real systems; write the "
                  "real form [Re -Im; Im Re] with b = [Re b; Im b], which has twice the "
                  "size and the same solution");
  }
}

}  // namespace
}  // namespace tcsolve
