#!/usr/bin/env bash
# `make uninstall`: resources first, while the operator can still let go of them, then the operator, then the definitions.
# Where no operator runs, or it does not let go within UNINSTALL_SECONDS (60), its finalizers are taken off. Rows of the
# database stay; projects whose deletionPolicy is Suspend are suspended, as with every deletion.
set -euo pipefail
cd "$(dirname "$0")/.."
KUBECTL=${KUBECTL:-kubectl}
NAMESPACE=tintype-system
SECONDS_MAX=${UNINSTALL_SECONDS:-60}
# What belongs to a project goes before it, the runtime last.
KINDS='recipes watermarkpresets signingkeys projects imageservices'

command -v "$KUBECTL" >/dev/null || { echo 'make uninstall needs kubectl in PATH' >&2; exit 1; }
"$KUBECTL" version --request-timeout=10s >/dev/null 2>&1 || {
  echo "no cluster answers: set KUBECONFIG, and look at \`kubectl cluster-info\`" >&2
  exit 1
}

is_installed() { "$KUBECTL" get crd "$1.tintype.dev" >/dev/null 2>&1; }

operator_pods=$("$KUBECTL" --namespace $NAMESPACE get deployment tintype-operator --output 'jsonpath={.status.readyReplicas}' 2>/dev/null || true)

# Takes our own finalizers off one resource, and leaves those of others.
release() {
  local namespace=$1 kind=$2 name=$3 finalizer kept=()
  for finalizer in $("$KUBECTL" --namespace "$namespace" get "$kind" "$name" --output 'jsonpath={.metadata.finalizers[*]}' 2>/dev/null); do
    [[ $finalizer == tintype.dev/* ]] || kept+=("\"$finalizer\"")
  done
  "$KUBECTL" --namespace "$namespace" patch "$kind" "$name" --type=merge \
    --patch "{\"metadata\":{\"finalizers\":[$(IFS=,; echo "${kept[*]:-}")]}}" >/dev/null 2>&1 || true
}

for plural in $KINDS; do
  is_installed "$plural" || continue
  kind=$plural.tintype.dev
  "$KUBECTL" delete "$kind" --all --all-namespaces --wait=false
  if [ "${operator_pods:-0}" -gt 0 ]; then
    "$KUBECTL" wait "$kind" --all --all-namespaces --for=delete --timeout="${SECONDS_MAX}s" 2>/dev/null || true
  fi
  "$KUBECTL" get "$kind" --all-namespaces --no-headers --output custom-columns=:metadata.namespace,:metadata.name 2>/dev/null |
    while read -r namespace name; do
      echo "$kind $namespace/$name: no operator let go of it, its finalizers are taken off; its rows stay as they are"
      release "$namespace" "$kind" "$name"
    done
  "$KUBECTL" wait "$kind" --all --all-namespaces --for=delete --timeout="${SECONDS_MAX}s" 2>/dev/null || {
    echo "$kind: some resources are held by finalizers of others, see \`kubectl get $kind --all-namespaces --output yaml\`" >&2
    exit 1
  }
done

for folder in admission-policy network-policy rbac manager crd; do
  "$KUBECTL" delete --ignore-not-found --timeout=120s -k config/$folder
done

# What another release installed, by the labels that all of its objects have: release, kind, namespace and name.
remaining=$("$KUBECTL" get deployments,roles,rolebindings,clusterroles,clusterrolebindings --all-namespaces \
  --selector app.kubernetes.io/name=tintype,app.kubernetes.io/component=operator --output 'jsonpath={range .items[*]}{.metadata.annotations.meta\.helm\.sh/release-name}{"|"}{.metadata.annotations.meta\.helm\.sh/release-namespace}{"|"}{.kind}{"|"}{.metadata.namespace}{"|"}{.metadata.name}{"\n"}{end}')
if [ -z "$remaining" ]; then
  echo 'Uninstalled: no resource, definition, role or namespace of Tintype is left in this cluster.'
  exit
fi
echo 'Uninstalled: no resource and no definition of Tintype is left in this cluster, but these objects are, which `make install` did not make:'
while IFS='|' read -r release release_namespace kind namespace name; do
  if [ -n "$release" ]; then
    remove="helm uninstall $release --namespace $release_namespace"
  else
    remove="$KUBECTL delete $kind $name${namespace:+ --namespace $namespace}"
  fi
  echo "  $kind ${namespace:+$namespace/}$name: $remove"
done <<<"$remaining"
