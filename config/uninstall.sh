#!/usr/bin/env bash
# `make uninstall`: deletes the resources while the operator can still release them, then the operator, then the
# definitions. If no operator leads, or it does not release them within UNINSTALL_SECONDS (60), the operator is stopped
# and its finalizers are removed. The deletionPolicy decides what happens to a project, as with every deletion; if its
# finalizer was removed, its rows stay, unless another operator leads and treats it as deleted.
set -euo pipefail
cd "$(dirname "$0")/.."
KUBECTL=${KUBECTL:-kubectl}
SECONDS_MAX=${UNINSTALL_SECONDS:-60}
# A leader that makes no sign for this long is dead: another one takes over after 15 seconds.
SILENT_SECONDS=20
NAMESPACE=tintype-system

command -v "$KUBECTL" >/dev/null || { echo 'make uninstall needs kubectl in PATH' >&2; exit 1; }
"$KUBECTL" version --request-timeout=10s >/dev/null 2>&1 || {
  echo "no cluster answers: set KUBECONFIG, and check with \`kubectl cluster-info\`" >&2
  exit 1
}

# Lists those of the given kinds of a group that this cluster has, comma-separated as kubectl
# accepts them.
known_kinds() {
  local group=$1
  shift
  "$KUBECTL" get crd "${@/%/.$group}" --ignore-not-found --output name | cut -d/ -f2 | paste -sd, -
}

# Lists kind, namespace, name, finalizers, and the reason and message of the Ready condition.
list_left() {
  "$KUBECTL" get "$1" --all-namespaces --output 'jsonpath={range .items[*]}{.kind}{"|"}{.metadata.namespace}{"|"}{.metadata.name}{"|"}{.metadata.finalizers}{"|"}{.status.conditions[?(@.type=="Ready")].reason}{": "}{.status.conditions[?(@.type=="Ready")].message}{"\n"}{end}'
}

# Keeps those with a finalizer of ours; others may be held by foreign finalizers.
only_held() {
  awk -F'|' '$4 ~ /"tintype\.dev\//'
}
list_held() {
  list_left "$1" | only_held
}

# Renew times of the leases, which change every few seconds while an operator leads, whoever
# installed it.
read_signs() {
  "$KUBECTL" get leases --all-namespaces --field-selector metadata.name=tintype-operator --output 'jsonpath={.items[*].spec.renewTime}'
}

# Prints the namespace of an operator that still leads; nothing if no Lease is renewed.
find_leader() {
  [ -n "$(read_signs)" ] || return 0
  "$KUBECTL" get leases --all-namespaces --field-selector metadata.name=tintype-operator --watch-only \
    --request-timeout="${SILENT_SECONDS}s" --output 'jsonpath={.metadata.namespace}{"\n"}' 2>/dev/null | head -n 1 || true
}

# Set once no operator has led for SILENT_SECONDS; nothing is awaited after that.
is_silent=

# Waits while an operator leads and time remains.
await_operator() {
  local kinds=$1 signs left until=$((SECONDS + SECONDS_MAX))
  while [ -z "$is_silent" ] && [ -n "$(list_held "$kinds")" ] && left=$((until - SECONDS)) && [ "$left" -gt 0 ]; do
    signs=$(read_signs)
    [ -n "$signs" ] || { is_silent=yes && return; }
    if [ "$left" -gt "$SILENT_SECONDS" ]; then left=$SILENT_SECONDS; fi
    if "$KUBECTL" wait "$kinds" --all --all-namespaces --for=delete --timeout="${left}s" >/dev/null 2>&1; then continue; fi
    if [ "$left" -eq "$SILENT_SECONDS" ] && [ "$(read_signs)" = "$signs" ]; then is_silent=yes; fi
  done
}

# Removes our finalizers from one resource and keeps those of others. Refused if they changed since
# they were listed.
release() {
  local kind=$1 namespace=$2 name=$3 listed=$4 kept
  kept=$(tr -d '[]' <<<"$listed" | tr , '\n' | grep -v '^"tintype\.dev/' | paste -sd, -) || true
  "$KUBECTL" --namespace "$namespace" patch "$kind" "$name" --type=json --patch "[
    {\"op\":\"test\",\"path\":\"/metadata/finalizers\",\"value\":$listed},
    {\"op\":\"replace\",\"path\":\"/metadata/finalizers\",\"value\":[$kept]}]" >/dev/null 2>&1 || true
}

# Selects by labels, because a release of the chart may have objects with the same names.
remove_own() {
  "$KUBECTL" --namespace "$NAMESPACE" delete "$@" --timeout=120s \
    --selector app.kubernetes.io/name=tintype,app.kubernetes.io/managed-by=kustomize
}

# Waits for its last pod to end before its permissions are deleted, so that its last calls are not
# refused.
end_operator() {
  remove_own deployments --cascade=foreground
}

# A running operator treats a resource without its finalizer as deleted, so ours is stopped first.
release_all() {
  local kinds=$1 leader= kind namespace name finalizers said outcome='its rows stay as they are'
  end_operator
  [ -n "$is_silent" ] || leader=$(find_leader)
  if [ -z "$leader" ]; then
    is_silent=yes
  else
    outcome="the operator that still leads (Lease $leader/tintype-operator) treats it as deleted, if it watches that namespace"
  fi
  list_held "$kinds" | while IFS='|' read -r kind namespace name finalizers said; do
    if [ "$said" = ': ' ]; then said='it has no condition Ready'; else said="its condition Ready says $said"; fi
    echo "$kind $namespace/$name: no operator released it ($said): its finalizer is removed, and $outcome"
    release "$kind.tintype.dev" "$namespace" "$name" "$finalizers"
  done
}

# Deletes all at once: a preset that is a project's default is released only after the project.
remove() {
  local kinds left
  kinds=$(known_kinds tintype.dev "$@")
  [ -n "$kinds" ] || return 0
  "$KUBECTL" delete "$kinds" --all --all-namespaces --wait=false
  await_operator "$kinds"
  left=$(list_left "$kinds")
  [ -n "$left" ] || return 0
  [ -z "$(only_held <<<"$left")" ] || release_all "$kinds"
  "$KUBECTL" wait "$kinds" --all --all-namespaces --for=delete --timeout="${SECONDS_MAX}s" >/dev/null 2>&1 || true
  left=$(list_left "$kinds")
  [ -z "$left" ] || {
    echo "some resources are held by finalizers of others, see \`kubectl get $kinds --all-namespaces --output yaml\`" >&2
    exit 1
  }
}

remove projects signingkeys watermarkpresets recipes
# The runtime last, because its routes are deleted with it.
remove imageservices

# Secrets of the database, the keys and the buckets live beside the operator, and often the servers
# do too. Ignores what Kubernetes creates in every namespace, and objects that are deleted with
# their owner.
list_of_others() {
  local kinds
  kinds=$("$KUBECTL" api-resources --namespaced --verbs=list,delete --output name |
    grep -vE '^(events(\..*)?|endpoints|pods\.metrics\..*|.*\.tintype\.dev)$' | paste -sd, -)
  "$KUBECTL" --namespace "$NAMESPACE" get "$kinds" --selector 'app.kubernetes.io/managed-by!=tintype-operator' \
    --output 'jsonpath={range .items[*]}{.kind}{"/"}{.metadata.name}{"|"}{.type}{"|"}{.metadata.ownerReferences[*].name}{"\n"}{end}' |
    awk -F'|' '$3 == "" && $2 != "kubernetes.io/service-account-token" &&
      $1 != "ConfigMap/kube-root-ca.crt" && $1 != "ServiceAccount/default" { print $1 }'
}

# An operator of another release in this namespace uses the same Lease.
remove_lease() {
  local operators
  operators=$("$KUBECTL" --namespace "$NAMESPACE" get deployments --output name \
    --selector app.kubernetes.io/name=tintype,app.kubernetes.io/component=operator)
  [ -n "$operators" ] || "$KUBECTL" --namespace "$NAMESPACE" delete leases tintype-operator --ignore-not-found
}

# The resources of config/prometheus, if the Prometheus Operator is installed.
remove_monitoring() {
  local kinds
  kinds=$(known_kinds monitoring.coreos.com podmonitors prometheusrules)
  [ -z "$kinds" ] || remove_own "$kinds"
}

# Deletes the namespace only if it contains nothing of others.
remove_namespace() {
  local found others
  found=$("$KUBECTL" get namespace "$NAMESPACE" --ignore-not-found --output name)
  [ -n "$found" ] || return 0
  others=$(list_of_others)
  if [ -z "$others" ]; then
    # While pods in it are terminating, Kubernetes rechecks a namespace only after half of their
    # grace period.
    "$KUBECTL" --namespace "$NAMESPACE" wait pods --all --for=delete --timeout=6m
    "$KUBECTL" delete namespace "$NAMESPACE" --timeout=120s
    return 0
  fi
  echo "Namespace $NAMESPACE stays, as it has objects that the install did not create: ${others//$'\n'/, }. To delete it with all of them: $KUBECTL delete namespace $NAMESPACE"
}

end_operator
remove_own validatingadmissionpolicies,validatingadmissionpolicybindings,networkpolicies,roles,rolebindings,clusterroles,clusterrolebindings,poddisruptionbudgets,serviceaccounts
remove_monitoring
remove_lease
"$KUBECTL" delete --ignore-not-found --timeout=120s -k config/crd
remove_namespace

# What other releases installed, by the labels that all their objects have: release, kind, namespace
# and name.
remaining=$("$KUBECTL" get deployments,roles,rolebindings,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings --all-namespaces \
  --selector app.kubernetes.io/name=tintype,app.kubernetes.io/component=operator --output 'jsonpath={range .items[*]}{.metadata.annotations.meta\.helm\.sh/release-name}{"|"}{.metadata.annotations.meta\.helm\.sh/release-namespace}{"|"}{.kind}{"|"}{.metadata.namespace}{"|"}{.metadata.name}{"\n"}{end}')
if [ -z "$remaining" ]; then
  echo 'Uninstalled: no resource, definition or role of Tintype is left in this cluster.'
  exit
fi
echo 'Uninstalled: no resource and no definition of Tintype is left in this cluster, but these objects are, which `make install` did not create:'
while IFS='|' read -r release release_namespace kind namespace name; do
  if [ -n "$release" ]; then
    remove="helm uninstall $release --namespace $release_namespace"
  else
    remove="$KUBECTL delete $kind $name${namespace:+ --namespace $namespace}"
  fi
  echo "  $kind ${namespace:+$namespace/}$name: $remove"
done <<<"$remaining"
