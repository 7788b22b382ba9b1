#!/usr/bin/env bash
# expose.sh PORT: makes 127.0.0.1:PORT of this machine reachable from pods on the node of TINTYPE_TEST_NODE.
# Restarts a forwarder that is too slow to start on a busy machine. E2E_FORWARDERS collects the process ids of
# forwarders that work.
set -euo pipefail
: "${TINTYPE_TEST_NODE:?the folder with forward.sh}" "${NODE_RUN:?the folder of the node that runs}" "${E2E_FORWARDERS:?a file}"
net=/proc/$(cat "$NODE_RUN/init.pid")/ns/net

answers() { nsenter --net="$net" bash -c ": </dev/tcp/$E2E_HOST_ADDRESS/$1" 2>/dev/null; }

for _ in 1 2 3 4 5; do
  pid=$("$TINTYPE_TEST_NODE/forward.sh" in "$1") || continue
  for _ in $(seq 300); do
    if answers "$1"; then echo "$pid" >> "$E2E_FORWARDERS"; exit 0; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
done
echo "nothing forwards port $1 into the node" >&2
exit 1
