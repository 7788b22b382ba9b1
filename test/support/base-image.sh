#!/usr/bin/env bash
# Builds a base image from Debian packages and Node from npm, for machines that cannot reach an image registry.
# Prints the image name, for `make image BASE=<name>`. Needs root, debootstrap and buildah.
# The first run takes 30 to 90 seconds; later runs reuse the image. The root file system is in .tools/base-image/.
set -euo pipefail
cd "$(dirname "$0")/../.."

NODE_VERSION=$(sed -n 's/^NODE_VERSION := //p' Makefile)
NPM_VERSION=11.6.2
SUITE=bookworm
NAME=localhost/tintype-base:$SUITE-$NODE_VERSION
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
place=$PWD/.tools/base-image

for command in debootstrap buildah npm; do
  command -v $command >/dev/null && continue
  echo "base-image.sh needs $command: on Debian, apt-get install debootstrap buildah npm" >&2
  exit 1
done
if buildah inspect --type image "$NAME" >/dev/null 2>&1; then
  echo "$NAME"
  exit 0
fi

begun=$SECONDS
mkdir -p "$place"
if [ ! -f "$place/root/.complete" ]; then
  echo "Making a Debian $SUITE in .tools/base-image/, then an image of it (30 to 90 seconds) …" >&2
  rm -rf "$place/root"
  debootstrap --variant=minbase --include=ca-certificates,bubblewrap $SUITE "$place/root" "$MIRROR" >"$place/debootstrap.log"
  rm -rf "$place"/root/var/cache/apt/* "$place"/root/var/lib/apt/lists/* "$place"/root/usr/share/{doc,man,locale}/*
  platform=$(node -p 'process.platform + "-" + process.arch')
  (
    cd "$place"
    rm -f ./*.tgz
    npm pack --silent "node-$platform@$NODE_VERSION" "npm@$NPM_VERSION" >/dev/null
    install -d root/usr/local/lib/node_modules/npm
    tar xzf node-"$platform"-*.tgz -C root/usr/local --strip-components=1 package/bin
    tar xzf npm-*.tgz -C root/usr/local/lib/node_modules/npm --strip-components=1
    rm -f ./*.tgz
  )
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$place/root/usr/local/bin/npm"
  # The build fetches packages, so it must trust the same certificate authorities as this machine.
  cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$place/root/etc/ssl/certs/ca-certificates.crt"
  touch "$place/root/.complete"
fi

container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
buildah add --quiet "$container" "$place/root" / >/dev/null
buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --env PATH=/usr/local/bin:/usr/bin:/bin "$container"
buildah commit --quiet "$container" "$NAME" >/dev/null
echo "Made $NAME in $((SECONDS - begun)) s." >&2
echo "$NAME"
