#!/bin/bash
# What the shop's scripts share.

# Says something, with the time before it.
say() {
  printf '%s %s\n' "$(date +%H:%M)" "$*"
}
