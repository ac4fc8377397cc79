// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a config: an Error is the only exception that may leave, and a config that was
// accepted is accepted again, unchanged, from the dump of its effective values.
#include "../support/config_sample.hpp"

#include <tcsolve/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace tcsolve;
  static sample::Registries const registries;
  std::string text(reinterpret_cast<char const*>(data), size);
  // What follows the first 0x01 byte is a --set argument.
  std::vector<std::string> sets;
  if (std::size_t const cut = text.find('\x01'); cut != std::string::npos) {
    sets.push_back(text.substr(cut + 1));
    text.resize(cut);
  }
  std::string dump;
  try {
    dump = dump_yaml(sample::read_run(text, registries, sets));
  } catch (Error const&) { return 0; }
  sample::RunConfig const again = sample::read_run(dump, registries);
  if (dump_yaml(again) != dump) std::abort();
  dump_json(again);
  return 0;
}
