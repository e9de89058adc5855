#include "barcode.hpp"

namespace shop {

Barcode::Barcode(const char* digits) {
  int sum = 0;
  for (int place = 0; place + 1 < kDigits && digits[place] != '\0'; ++place) {
    digits_[place] = digits[place] - '0';
    sum += digits_[place] * (place % 2 == 0 ? 1 : 3);
  }
  digits_[kDigits - 1] = (10 - sum % 10) % 10;
}

}  // namespace shop
