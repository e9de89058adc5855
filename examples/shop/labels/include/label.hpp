#pragma once

#include "barcode.hpp"

namespace shop {

/// What is glued onto a product.
struct Label {
  const char* name;
  long cents;
  Barcode code;
};

/// A label for one of the shop's mugs.
Label mug();

}  // namespace shop
