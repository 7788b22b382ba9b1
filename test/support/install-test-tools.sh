#!/usr/bin/env bash
# Installs from Debian what the tests use beside npm packages: independent decoders (ImageMagick, ExifTool) and curl.
# Does nothing where all of it is there.
set -euo pipefail

declare -A package_of=([identify]=imagemagick [exiftool]=libimage-exiftool-perl [curl]=curl)
missing=()
for command in "${!package_of[@]}"; do
  command -v "$command" >/dev/null || missing+=("${package_of[$command]}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing for the tests, by apt-get: ${missing[*]} …"
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "This needs root on Debian. Install these yourself, then run make test again: ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
