#include "hyperatom/learn/loss_table.hpp"

#include "hyperatom/base/table.hpp"

namespace hyperatom {
namespace {

constexpr TableEntry<Loss> table[] = {
    {"squared", make_squared_loss},
    {"softmax", make_softmax_loss},
    {"squared-hinge", make_squared_hinge_loss},
};

}  // namespace

std::unique_ptr<const Loss> make_loss(const Spec& spec) {
  return make_from<Loss>(table, spec, "loss");
}

std::vector<Spec> example_losses() { return examples<Loss>(table); }

}  // namespace hyperatom
