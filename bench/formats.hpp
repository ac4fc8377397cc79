// SPDX-License-Identifier: Apache-2.0
/// A matrix in every format that is for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/formats/format.hpp>

namespace tcsolve::bench {

struct Stored {
  std::string name;
  bool persistent;  ///< the persistent kernel has its product
  OperatorPtr<double> A;
};

/// csr, which is A itself, comes first.
inline std::vector<Stored> in_every_format(Context& ctx,
                                           std::shared_ptr<CsrOperator<double>> const& A) {
  Survey seen = survey(ctx, A->view());
  seen.look(ctx, A->view());
  std::vector<Stored> all{{"csr", formats().source().can.persistent, A}};
  for (Format const& format : formats())
    if (format.converted && why_not(format, seen.least(), {}).empty())
      all.push_back({format.name, format.can.persistent,
                     make_operator<double>(ctx, A->view(), format, &seen)});
  return all;
}

}  // namespace tcsolve::bench
