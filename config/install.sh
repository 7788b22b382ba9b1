#!/usr/bin/env bash
# `make install`: installs or upgrades the operator in the cluster of the current kubeconfig, definitions first.
# IMAGE=registry/tintype:tag sets the image, otherwise an earlier choice is kept. FOLDER replaces config/default, for
# example with config/private-ca, which is also kept. KUBECTL names another kubectl.
set -euo pipefail
cd "$(dirname "$0")/.."
KUBECTL=${KUBECTL:-kubectl}
NAMESPACE=tintype-system

command -v "$KUBECTL" >/dev/null || { echo 'make install needs kubectl in PATH' >&2; exit 1; }
"$KUBECTL" version --request-timeout=10s >/dev/null 2>&1 || {
  echo "no cluster answers: set KUBECONFIG, and check with \`kubectl cluster-info\`" >&2
  exit 1
}

# Reads a field of the installed operator's Deployment.
read_there() {
  "$KUBECTL" --namespace $NAMESPACE get deployment tintype-operator --ignore-not-found --output "jsonpath=$1"
}

folder=${FOLDER:-config/default}
# A trusted authority is kept: without it the operator could not reach its database.
if [ -z "${FOLDER:-}" ] && [ -n "$(read_there '{.spec.template.spec.volumes[?(@.name=="ca")].name}')" ]; then
  folder=config/private-ca
  echo "Keeping the folder $folder; to use another one, set FOLDER=config/default"
fi
# A chosen image is not replaced by the default, which exists only on machines that loaded it.
if [ -z "${IMAGE:-}" ]; then
  there=$(read_there '{.spec.template.spec.containers[0].image}')
  case $there in
  '' | tintype:*) ;;
  *) IMAGE=$there && echo "Keeping the image $IMAGE; to use another one, set IMAGE=registry/tintype:tag" ;;
  esac
fi
if [ -n "${IMAGE:-}" ]; then
  base=$folder folder=.tools/install
  mkdir -p $folder
  last=${IMAGE##*/}
  case $IMAGE in
  *@*) tag="digest: ${IMAGE#*@}" name=${IMAGE%%@*} ;;
  *) [[ $last == *:* ]] && name=${IMAGE%:*} tag="newTag: '${last##*:}'" || name=$IMAGE tag='newTag: latest' ;;
  esac
  printf 'resources: [../../%s]\nimages:\n  - name: tintype\n    newName: %s\n    %s\n' "$base" "$name" "$tag" \
    >$folder/kustomization.yaml
fi

# The project owns the definitions and the operator: manual changes are overwritten.
apply() { "$KUBECTL" apply --server-side --force-conflicts --field-manager=tintype-install "$@"; }
apply -k config/crd
"$KUBECTL" kustomize config/crd | "$KUBECTL" wait --for=condition=Established --timeout=60s -f - >/dev/null
apply -k "$folder"

if ! "$KUBECTL" --namespace $NAMESPACE get secret tintype >/dev/null 2>&1; then
  cat <<END

The operator waits for the Secret tintype, which you must create:

  kubectl --namespace $NAMESPACE create secret generic tintype \\
    --from-literal=TINTYPE_DATABASE_URL=postgres://tintype:password@db.internal:5432/tintype \\
    --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="k1:\$(openssl rand -base64 32)"
END
fi
cat <<END

Installed. The operator is ready when this command returns:

  kubectl --namespace $NAMESPACE wait deployment/tintype-operator --for=condition=Available --timeout=180s
END
