// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/formats/register.hpp>

#include <tcsolve/formats/auto_factory.hpp>

namespace tcsolve {

/// Adds what xyz_format() describes, which formats/xyz/format.cpp defines.
#define TCSOLVE_ADD(xyz)        \
  extern Format xyz##_format(); \
  formats.add(xyz##_format())

void register_formats(FormatList& formats) {
  TCSOLVE_ADD(csr);
  TCSOLVE_ADD(dia);
  TCSOLVE_ADD(sell);
  TCSOLVE_ADD(csell);
  TCSOLVE_ADD(bsell);
  TCSOLVE_ADD(dasp);
  TCSOLVE_ADD(spaden);
  TCSOLVE_ADD(tiled);
  TCSOLVE_ADD(bittcf);
  TCSOLVE_ADD(tile16);
#undef TCSOLVE_ADD
}

void register_operators(OperatorRegistry& r, FormatList const& among) {
  r.add<AutoParams>(
      "auto", "the format that costs least, conversion included; csr where A^T is needed",
      [&among](AutoParams const& params) { return std::make_unique<AutoFactory>(params, among); });
  r.fall_back_to("auto");
  for (Format const& format : among) format.factory.enlist(r, format, among);
}

}  // namespace tcsolve
