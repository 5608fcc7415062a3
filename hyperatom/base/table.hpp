// A table of named things that are made from a spec: the kernels, the losses.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hyperatom/base/error.hpp"
#include "hyperatom/base/spec.hpp"

namespace hyperatom {

template <class Thing>
struct TableEntry {
  const char* example;  ///< a valid spec; its name is the entry's name
  std::unique_ptr<const Thing> (*make)(SpecReader&);
};

template <class Thing>
std::vector<Spec> examples(std::span<const TableEntry<Thing>> table) {
  std::vector<Spec> specs;
  for (const auto& entry : table) specs.push_back(Spec::parse(entry.example));
  return specs;
}

/// `what` names the kind of thing in the message of the OptionError.
template <class Thing>
std::unique_ptr<const Thing> make_from(std::span<const TableEntry<Thing>> table, const Spec& spec,
                                       std::string_view what) {
  std::vector<std::string> known;
  for (const auto& entry : table) {
    known.push_back(Spec::parse(entry.example).name);
    if (known.back() != spec.name) continue;
    SpecReader parameters(spec);
    auto thing = entry.make(parameters);
    parameters.finish();
    return thing;
  }
  throw OptionError(fmt::format("unknown {} '{}'; known: {}", what, spec.name, join(known)));
}

}  // namespace hyperatom
