#!/usr/bin/env bash
# Installs what the tests need besides npm packages. From Debian: independent decoders (ImageMagick, ExifTool, pngcheck,
# webpinfo, avifdec, rsvg-convert, Little CMS) and encoders (cjpeg, tiffcp), a browser, curl, RabbitMQ, PostgreSQL with
# its tools, Varnish, nginx, HAProxy, promtool to evaluate alerts, and bubblewrap to isolate decoders. From elsewhere:
# the S3 server versitygw, a Kubernetes control plane, definitions of third-party kinds, schemathesis,
# openapi-typescript, and photographs of real cameras. Does nothing if everything is present.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/support/installing.sh

declare -A package_of=([bwrap]=bubblewrap [identify]=imagemagick [exiftool]=libimage-exiftool-perl [curl]=curl
  [pngcheck]=pngcheck [webpinfo]=webp [avifdec]=libavif-bin [chromium-headless-shell]=chromium-headless-shell [tificc]=liblcms2-utils
  [cjpeg]=libjpeg-turbo-progs [tiffcp]=libtiff-tools [promtool]=prometheus [rsvg-convert]=librsvg2-bin [openssl]=openssl)
missing=()
for command in "${!package_of[@]}"; do
  command -v "$command" >/dev/null || missing+=("${package_of[$command]}")
done

# Programs that are not in every user's PATH, and packages without programs.
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || missing+=(rabbitmq-server)
[ -x /usr/sbin/varnishd ] || missing+=(varnish)
[ -d /usr/share/backgrounds/mate ] || missing+=(mate-backgrounds)
[ -x /usr/sbin/nginx ] || missing+=(nginx)
[ -x /usr/sbin/haproxy ] || missing+=(haproxy)
[ -d /usr/lib/postgresql ] || missing+=(postgresql)

SCHEMATHESIS=4.32.5

# In a virtual environment, once per version and project folder.
install_schemathesis() {
  # The scripts contain the absolute path of the virtual environment, so they break when the project
  # is moved.
  local place=.tools/schemathesis wanted="$SCHEMATHESIS in $PWD"
  [ -x $place/bin/schemathesis ] && [ "$(cat $place/version 2>/dev/null)" = "$wanted" ] && return
  echo "Fetching schemathesis $SCHEMATHESIS, which tests the API against its document, into $place/ …"
  command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  rm -rf $place
  python3 -m venv $place
  $place/bin/pip install --quiet --disable-pip-version-check schemathesis==$SCHEMATHESIS
  echo "$wanted" >$place/version
}

OPENAPI_TYPESCRIPT=7.13.0
# The newest TypeScript that openapi-typescript supports; the project itself uses another one.
ITS_TYPESCRIPT=5.9.3

# Outside the project's node_modules, once per version.
install_openapi_types() {
  local place=.tools/openapi-types
  local version="$OPENAPI_TYPESCRIPT with typescript $ITS_TYPESCRIPT"
  [ "$(cat $place/version 2>/dev/null)" = "$version" ] && return
  echo "Fetching openapi-typescript $version, which writes the types of a client, into $place/ …"
  rm -rf $place
  mkdir -p $place
  npm install --prefix $place --ignore-scripts --no-audit --no-fund --loglevel=error --silent \
    openapi-typescript@$OPENAPI_TYPESCRIPT typescript@$ITS_TYPESCRIPT
  echo "$version" >$place/version
}

VERSITYGW=github.com/versity/versitygw/cmd/versitygw@v1.8.0

# Built once into .tools/bin.
install_versitygw() {
  for place in "${TINTYPE_TEST_TOOLS:-.tools/bin}" .tools/bin; do
    [ -x "$place/versitygw" ] && return
  done
  command -v versitygw >/dev/null && return
  find_go
  echo "Building versitygw, the S3 server of the tests, into .tools/bin/ …"
  mkdir -p .tools/bin
  GOBIN=$PWD/.tools/bin GOFLAGS=-trimpath CGO_ENABLED=0 "$go" install "$VERSITYGW"
}

KUBERNETES=v1.36.3

# Builds the control plane and etcd from test/kube/ as one program, linked under the name of each
# component in
# .tools/bin. Only done once.
install_kubernetes() {
  local part parts='etcd kube-apiserver kube-controller-manager kube-scheduler kubectl' missing=''
  for part in $parts; do
    [ -x "${TINTYPE_TEST_TOOLS:-.tools/bin}/$part" ] || [ -x "${KUBEBUILDER_ASSETS:-.tools/bin}/$part" ] ||
      [ -x ".tools/bin/$part" ] || missing+=" $part"
  done
  [ -n "$missing" ] || return 0
  find_go
  echo "Building Kubernetes $KUBERNETES for the tests into .tools/bin/: once, some 5 to 10 minutes on 2 cores, 2 GB of memory …"
  local began=$SECONDS version='-X k8s.io/component-base/version'
  mkdir -p .tools/bin
  (cd test/kube && CGO_ENABLED=0 "$go" build -trimpath -buildvcs=false -tags providerless,netgo \
    -ldflags "-s -w $version.gitVersion=$KUBERNETES $version.gitMajor=1 $version.gitMinor=36" \
    -o ../../.tools/bin/kube-node .)
  for part in $parts; do ln -sf kube-node ".tools/bin/$part"; done
  echo "Built Kubernetes $KUBERNETES in $((SECONDS - began)) s."
}

# Downloads a Go module and prints its folder.
fetch_module() {
  local answer
  answer=$("$go" mod download -json "$1") || { sed -n 's/^\t"Error": //p' <<<"$answer" >&2 && return 1; }
  sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' <<<"$answer"
}

# The test data of a Go module that reads image metadata (MIT license).
PHOTOGRAPHS=github.com/bep/imagemeta@v1.0.1

fetch_photographs() {
  [ -d .tools/photographs ] && return
  find_go
  echo "Fetching photographs of real cameras into .tools/photographs/ …"
  local module
  module=$(fetch_module "$PHOTOGRAPHS")
  mkdir -p .tools
  rm -rf .tools/photographs.partial
  cp -R "$module/testdata/images" .tools/photographs.partial
  chmod -R u+w .tools/photographs.partial
  mv .tools/photographs.partial .tools/photographs
}

GATEWAY_API=sigs.k8s.io/gateway-api@v1.6.3
KEDA=github.com/kedacore/keda/v2@v2.21.0
CLOUD_NATIVE_PG=github.com/cloudnative-pg/cloudnative-pg@v1.27.1
RABBITMQ=github.com/rabbitmq/cluster-operator/v2@v2.16.0
ROOK=github.com/rook/rook@v1.17.8

# Definitions of third-party kinds that a cluster may have, as published by their projects.
fetch_definitions() {
  local place=.tools/definitions of="$GATEWAY_API $KEDA $CLOUD_NATIVE_PG $RABBITMQ $ROOK" module
  [ "$(cat $place/version 2>/dev/null)" = "$of" ] && return
  find_go
  echo "Fetching the definitions of the Gateway API, KEDA, CloudNativePG, RabbitMQ and Rook into $place/ …"
  mkdir -p $place
  module=$(fetch_module "$GATEWAY_API")
  install -m 644 "$module/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" $place
  module=$(fetch_module "$KEDA")
  install -m 644 "$module"/config/crd/bases/keda.sh_{scaledobjects,triggerauthentications}.yaml $place
  module=$(fetch_module "$CLOUD_NATIVE_PG")
  install -m 644 "$module/config/crd/bases/postgresql.cnpg.io_clusters.yaml" $place
  module=$(fetch_module "$RABBITMQ")
  install -m 644 "$module/config/crd/bases/rabbitmq.com_rabbitmqclusters.yaml" $place
  module=$(fetch_module "$ROOK")
  install -m 644 "$module/deploy/olm/assemble/objectbucket.io_objectbucketclaims.yaml" $place
  echo "$of" >$place/version
}

[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
install_versitygw
install_kubernetes
install_schemathesis
install_openapi_types
fetch_photographs
fetch_definitions
