#!/usr/bin/env bash
# `make install`: the operator into the cluster of the current kubeconfig. The definitions come first, then what uses them.
# IMAGE=registry/tintype:tag names the image, else one that was named before stays; FOLDER another one than config/default,
# as config/private-ca, which stays as well; KUBECTL another kubectl. Again is an upgrade.
set -euo pipefail
cd "$(dirname "$0")/.."
KUBECTL=${KUBECTL:-kubectl}
NAMESPACE=tintype-system

command -v "$KUBECTL" >/dev/null || { echo 'make install needs kubectl in PATH' >&2; exit 1; }
"$KUBECTL" version --request-timeout=10s >/dev/null 2>&1 || {
  echo "no cluster answers: set KUBECONFIG, and look at \`kubectl cluster-info\`" >&2
  exit 1
}

# Of the operator that is there.
read_there() {
  "$KUBECTL" --namespace $NAMESPACE get deployment tintype-operator --ignore-not-found --output "jsonpath=$1"
}

folder=${FOLDER:-config/default}
# An authority that the operator was made to trust is not taken from it: its database would be out of reach.
if [ -z "${FOLDER:-}" ] && [ -n "$(read_there '{.spec.template.spec.volumes[?(@.name=="ca")].name}')" ]; then
  folder=config/private-ca
  echo "The folder stays $folder: for another one say FOLDER=config/default"
fi
# An image that somebody named is not replaced by the default one, which only machines have that it was loaded into.
if [ -z "${IMAGE:-}" ]; then
  there=$(read_there '{.spec.template.spec.containers[0].image}')
  case $there in
  '' | tintype:*) ;;
  *) IMAGE=$there && echo "The image stays $IMAGE: for another one say IMAGE=registry/tintype:tag" ;;
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

# The definitions and the operator are the project's own: what somebody changed by hand is set back.
apply() { "$KUBECTL" apply --server-side --force-conflicts --field-manager=tintype-install "$@"; }
apply -k config/crd
"$KUBECTL" kustomize config/crd | "$KUBECTL" wait --for=condition=Established --timeout=60s -f - >/dev/null
apply -k "$folder"

if ! "$KUBECTL" --namespace $NAMESPACE get secret tintype >/dev/null 2>&1; then
  cat <<END

The operator waits for the Secret tintype, which is yours to make:

  kubectl --namespace $NAMESPACE create secret generic tintype \\
    --from-literal=TINTYPE_DATABASE_URL=postgres://tintype:password@db.internal:5432/tintype \\
    --from-literal=TINTYPE_KEY_ENCRYPTION_KEYS="k1:\$(openssl rand -base64 32)"
END
fi
cat <<END

Installed. The operator is ready when this returns:

  kubectl --namespace $NAMESPACE wait deployment/tintype-operator --for=condition=Available --timeout=180s
END
