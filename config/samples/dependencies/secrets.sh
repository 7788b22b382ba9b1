#!/usr/bin/env bash
# Creates the Secrets that no operator creates, in the namespace of the operator (NAMESPACE, default tintype-system), once
# the database exists: tintype-keys, the random keys of the installation, to be kept as carefully as the database; and
# tintype, which the operator itself uses. STORAGE_KEY and STORAGE_SECRET create tintype-storage, for a bucket in a
# cloud. Existing Secrets are left unchanged.
set -euo pipefail
KUBECTL=${KUBECTL:-kubectl}
NAMESPACE=${NAMESPACE:-tintype-system}

exists() { "$KUBECTL" --namespace "$NAMESPACE" get secret "$1" >/dev/null 2>&1; }
value() { "$KUBECTL" --namespace "$NAMESPACE" get secret "$1" --output "jsonpath={.data.$2}" | base64 -d; }
make() {
  local name=$1
  shift
  exists "$name" && { echo "secret/$name already exists"; return; }
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
    --from-literal=AWS_SECRET_ACCESS_KEY="${STORAGE_SECRET:?must be set together with STORAGE_KEY}"
fi

exists tintype-db-app || { echo 'the Secret tintype-db-app does not exist yet: wait for the database, then run this again' >&2; exit 1; }
make tintype \
  --from-literal=TINTYPE_DATABASE_URL="$(value tintype-db-app uri)" \
  --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="$(value tintype-keys TINTYPE_KEY_ENCRYPTION_KEYS)"
