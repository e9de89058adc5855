#!/bin/bash
# Orders what is running out: `restock.sh MUG-01 TEA-01`.
set -euo pipefail

# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

for number in $@; do
  say "ordering $number"
done
