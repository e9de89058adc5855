#include "label.hpp"

namespace shop {

Label mug() {
  return Label{"Mug", "950", Barcode("400638133393")};
}

}  // namespace shop
