#!/usr/bin/env bash
# Simulates a power failure of the node of TINTYPE_TEST_NODE: kills every process on it, deletes its volatile state
# (/run, the cgroups of containers), and restarts its programs with their previous command lines. Returns when all of
# them have started and the API server responds.
set -euo pipefail
: "${TINTYPE_TEST_NODE:?the folder with up.sh}" "${NODE_RUN:?the folder of the node that runs}"
# shellcheck disable=SC1091
. "$TINTYPE_TEST_NODE/env.sh"

programs='containerd etcd apiserver controller-manager scheduler kubelet proxy'
declare -A commands
for name in $programs; do
  commands[$name]=$(xargs -0 printf '%q ' <"/proc/$(cat "$RUN/$name.pid")/cmdline")
done

# Kills everything in the node's PID namespace except its first process. Does nothing in the
# machine's own namespace.
# shellcheck disable=SC2016
in_node bash -c '[ "$(readlink /proc/self/ns/pid)" != "$1" ] && kill -9 -1' bash "$(readlink /proc/self/ns/pid)" || true
for name in $programs; do
  while kill -0 "$(cat "$RUN/$name.pid")" 2>/dev/null; do sleep 0.1; done
done
# shellcheck disable=SC2016
in_node bash -c '
  grep -oE " (/run/netns|/run/containerd|'"$RUN"'/kubelet)/[^ ]*" /proc/self/mounts | sort -r | while read -r place; do umount -l "$place"; done
  rm -rf /run/netns/* /run/containerd/* /run/cni-ipam
  find /sys/fs/cgroup/*/kubepods -depth -type d -exec rmdir {} + 2>/dev/null || true
  for link in $(ip -o link show type veth | sed "s/^[0-9]*: \([^@:]*\).*/\1/"); do ip link delete "$link"; done'

start() {
  in_node setsid env "PATH=$BIN:$PATH" bash -c "exec ${commands[$1]}" >>"$LOGS/$1.log" 2>&1 </dev/null &
  local pid=$! child own
  own=$(readlink "/proc/$(cat "$RUN/init.pid")/ns/pid")
  # nsenter forks, so the program is its first descendant within the node's namespace.
  for _ in $(seq 200); do
    [ "$(readlink "/proc/$pid/ns/pid")" = "$own" ] && break
    child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null) || true
    if [ -n "$child" ]; then pid=${child%% *}; else sleep 0.05; fi
  done
  echo "$pid" >"$RUN/$1.pid"
}

# The other programs exit if the API server does not respond.
await_api_server() {
  for _ in $(seq 300); do
    "$BIN/kubectl" --kubeconfig "$RUN/admin.conf" get --raw /readyz >/dev/null 2>&1 && return
    sleep 0.2
  done
  echo 'the API server of the node did not come back' >&2
  exit 1
}

for name in $programs; do
  start "$name"
  [ "$name" != apiserver ] || await_api_server
done
