#!/usr/bin/env bash
# Installs what browser tests need: Chromium (unless PACELINE_CHROMIUM names one) and npm by apt-get, axe-core by npm.
set -euo pipefail
cd "$(dirname "$0")"
lacking=()
[ -n "${PACELINE_CHROMIUM:-}" ] || command -v chromium > /dev/null || lacking+=(chromium)
command -v npm > /dev/null || lacking+=(npm)
if [ ${#lacking[@]} -gt 0 ]; then
  command -v apt-get > /dev/null || { echo "Install ${lacking[*]} by your system's means, then run this again." >&2; exit 1; }
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -yqq --no-install-recommends "${lacking[@]}"
fi
npm ci --no-audit --no-fund
