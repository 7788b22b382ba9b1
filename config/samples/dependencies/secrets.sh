#!/usr/bin/env bash
# The Secrets that nobody else makes, in the namespace of the operator (NAMESPACE, default tintype-system), once the
# database is there: tintype-keys, random keys of the installation, made once and to be kept as carefully as the database;
# and tintype, what the operator itself works with. STORAGE_KEY and STORAGE_SECRET make tintype-storage, for a bucket of a
# cloud. What is there is left as it is.
set -euo pipefail
KUBECTL=${KUBECTL:-kubectl}
NAMESPACE=${NAMESPACE:-tintype-system}

exists() { "$KUBECTL" --namespace "$NAMESPACE" get secret "$1" >/dev/null 2>&1; }
value() { "$KUBECTL" --namespace "$NAMESPACE" get secret "$1" --output "jsonpath={.data.$2}" | base64 -d; }
make() {
  local name=$1
  shift
  exists "$name" && { echo "secret/$name is there already"; return; }
  "$KUBECTL" --namespace "$NAMESPACE" create secret generic "$name" "$@"
}
key() { echo "k1:$(openssl rand -base64 32)"; }

make tintype-keys \
  --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="$(key)" \
  --from-literal=TINTYPE_TOKEN_KEYS="$(key)" \
  --from-literal=TINTYPE_REQUEST_SIGNING_SECRET="$(openssl rand -hex 32)" \
  --from-literal=TINTYPE_STORAGE_EVENT_SECRET="$(openssl rand -hex 32)"

if [ -n "${STORAGE_KEY:-}" ]; then
  make tintype-storage --from-literal=AWS_ACCESS_KEY_ID="$STORAGE_KEY" \
    --from-literal=AWS_SECRET_ACCESS_KEY="${STORAGE_SECRET:?beside STORAGE_KEY}"
fi

exists tintype-db-app || { echo 'tintype-db-app is not there yet: wait for the database, then run this again' >&2; exit 1; }
make tintype \
  --from-literal=TINTYPE_DATABASE_URL="$(value tintype-db-app uri)" \
  --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="$(value tintype-keys TINTYPE_KEY_ENCRYPTION_KEYS)"
