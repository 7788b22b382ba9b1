#!/usr/bin/env bash
# `make e2e`: one installation in a real cluster, the first of these that is available:
# - KUBECONFIG and E2E_IMAGE_IMPORT (a command that loads an OCI archive) select an existing cluster, whose pods reach
# this machine at E2E_HOST_ADDRESS. If it has an ingress controller, set E2E_INGRESS_CLASS and E2E_INGRESS_TARGET.
# - TINTYPE_TEST_NODE, a folder with up.sh, down.sh, import.sh and forward.sh, which create a cluster with one node
# here.
# - Docker and kind, which create one.
set -euo pipefail
cd "$(dirname "$0")/../.."

use_node() {
  scripts=$TINTYPE_TEST_NODE
  NODE_RUN=$(mktemp -d)/node NODE_API=${NODE_API:-17443} NODE_CGROUP=tintype-e2e-$$
  E2E_FORWARDERS=$(dirname "$NODE_RUN")/forwarders
  export NODE_RUN NODE_API NODE_CGROUP E2E_FORWARDERS
  touch "$E2E_FORWARDERS"
  trap '"$scripts/down.sh"; xargs -r kill < "$E2E_FORWARDERS" || true; rm -rf "$(dirname "$NODE_RUN")"' EXIT
  "$scripts/up.sh"
  export KUBECONFIG=$NODE_RUN/admin.conf E2E_IMAGE_IMPORT=$scripts/import.sh
  export E2E_HOST_ADDRESS=10.99.0.1 E2E_EXPOSE=test/e2e/expose.sh E2E_NODE_RESTART=test/e2e/restart-node.sh
}

use_kind() {
  trap 'kind delete cluster --name tintype-e2e' EXIT
  KUBECONFIG=$(mktemp)
  export KUBECONFIG E2E_IMAGE_IMPORT='kind load image-archive --name tintype-e2e'
  export E2E_NODE_RESTART='docker restart tintype-e2e-control-plane'
  kind create cluster --name tintype-e2e
  E2E_HOST_ADDRESS=$(docker network inspect kind --format '{{range .IPAM.Config}}{{.Gateway}} {{end}}' | tr ' ' '\n' | grep -m1 '\.')
  export E2E_HOST_ADDRESS
}

if [ "${E2E_KEDA:-}" = start ] && ! command -v go >/dev/null; then
  echo 'E2E_KEDA=start builds KEDA and needs Go in PATH: on Debian, apt-get install golang-go' >&2
  exit 1
fi
if [ -n "${E2E_IMAGE_IMPORT:-}" ]; then
  : "${KUBECONFIG:?of the cluster}" "${E2E_HOST_ADDRESS:?where its pods reach this machine}"
  use_cluster=true
elif [ -n "${TINTYPE_TEST_NODE:-}" ]; then use_cluster=use_node
elif command -v kind >/dev/null && docker info >/dev/null 2>&1; then use_cluster=use_kind
else
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 1
fi
# Comes first, to report missing tools for the image before a cluster is created.
BASE=${BASE:-$(test/support/base-image.sh)}
export BASE

$use_cluster
test/e2e/images.sh
npx vitest run --config config/vitest.e2e.config.ts "$@"
