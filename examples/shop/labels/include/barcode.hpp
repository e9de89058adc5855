#pragma once

namespace shop {

/// The thirteen digits of an EAN, the last of which checks the others.
class Barcode {
 public:
  static constexpr int kDigits = 13;

  /// Takes the first twelve digits and works out the last one.
  explicit Barcode(const char* digits);

  /// The digit at a place, counted from 0.
  int digit(int place) const { return digits_[place]; }

  /// The last digit.
  int check() const { return digits_[kDigits - 1]; }

 private:
  int digits_[kDigits] = {};
};

}  // namespace shop
