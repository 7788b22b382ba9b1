#!/usr/bin/env bash
# Checks an image built with buildah. As user 65532 with a read-only root, every command must print its help,
# doctor must start, images must be encoded and decoded, and the bill of materials must exist. Prints the size.
# Needs root and bubblewrap. Usage: test/support/check-image.sh [localhost/tintype:dev]
set -euo pipefail
image=${1:-localhost/tintype:dev}

container=$(buildah from "$image")
trap 'buildah umount "$container" >/dev/null; buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")

fail() {
  echo "✗ $*" >&2
  exit 1
}

# Like a pod of the chart: not root, only /tmp is writable, and no environment variables of this
# machine.
inside() {
  bwrap --unshare-all --die-with-parent --clearenv --setenv PATH /usr/local/bin:/usr/bin:/bin --setenv NODE_ENV production \
    --uid 65532 --gid 65532 --cap-drop ALL --ro-bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --chdir /app "$@"
}
tintype() { inside tintype "$@"; }

user=$(buildah inspect --type image --format '{{.OCIv1.Config.User}}' "$image")
[ "$user" = 65532:65532 ] || fail "its user is '$user', expected 65532:65532"
for label in title description licenses url documentation version revision; do
  value=$(buildah inspect --type image --format "{{index .OCIv1.Config.Labels \"org.opencontainers.image.$label\"}}" "$image")
  [ -n "$value" ] || fail "the label org.opencontainers.image.$label is missing"
done
inside sh -c '! touch /app/x 2>/dev/null' || fail 'its root can be written'

tintype --help >/dev/null || fail 'there is no command tintype, as docs/runbook types it'
commands=$(tintype --help | sed -n '/^Commands:/,$p' | sed -n 's/^  \([a-z]\+\).*/\1/p' | grep -v '^help$')
for command in $commands; do
  tintype "$command" --help >/dev/null || fail "tintype $command --help"
done
echo "✓ help of $(wc -w <<<"$commands") commands: $(tr '\n' ' ' <<<"$commands")"

doctor=$(inside env TINTYPE_DATABASE_URL=postgres://nobody@127.0.0.1:1/none tintype doctor 2>&1) \
  && fail 'doctor found a database where there is none'
grep -q '✗ reachable' <<<"$doctor" || fail "doctor did not start: $doctor"
echo '✓ doctor starts, and tells what is missing'

compiled=$(inside env NODE_DEBUG_NATIVE=COMPILE_CACHE tintype operator 2>&1 | grep -c 'cache for .*operator/main.ts.* was accepted' || true)
[ "$compiled" -gt 0 ] || fail 'the operator compiles anew as it starts'
echo '✓ what a start compiles is brought along'

inside node -e '
  const sharp = require("sharp");
  const blank = { create: { width: 64, height: 64, channels: 3, background: "#336699" } };
  Promise.all(["jpeg", "png", "webp", "avif"].map((format) => sharp(blank).toFormat(format).toBuffer()))
    .then((pictures) => Promise.all(pictures.map((each) => sharp(each).metadata())))
    .then((seen) => console.log("✓ sharp", seen.map((each) => each.format).join(" ")));
' || fail 'sharp does not work'

# Shows how decoders are isolated on this machine. In a pod, the seccomp profile can permit more or
# less.
inside node --input-type=module -e '
  const { findIsolation } = await import("/app/runtime/worker/sandbox/isolation.ts");
  const { filter, ...found } = findIsolation();
  delete found.enclose;
  console.log("✓ isolation", JSON.stringify({ ...found, has_filter: filter !== null }));
' || fail 'the isolation cannot be asked for'
inside sh -c 'command -v bwrap setpriv prlimit >/dev/null' || fail 'bubblewrap, setpriv or prlimit is missing'

components=$(inside node -p 'const b = require("/app/sbom.json"); if (b.bomFormat !== "CycloneDX") throw b; b.components.length')
[ "$components" -gt 50 ] || fail "the list of materials has $components components"
for part in npm/sharp deb/debian/bubblewrap generic/node; do
  inside grep --quiet "\"pkg:$part@" /app/sbom.json || fail "the list of materials lacks $part"
done
absent=$(inside node -p '
  const { globSync, readFileSync } = require("node:fs");
  const there = globSync("/app/node_modules/**/package.json").map((path) => {
    const { name, version } = JSON.parse(readFileSync(path, "utf8"));
    return `${name}@${version}`;
  });
  const purls = require("/app/sbom.json").components.map(({ purl }) => decodeURIComponent(purl));
  const listed = purls.filter((purl) => purl.startsWith("pkg:npm/")).map((purl) => purl.slice(8));
  if (listed.length < 100) throw listed;
  listed.filter((each) => !there.includes(each)).join(" ")')
[ -z "$absent" ] || fail "the list of materials has what is not there: $absent"
echo "✓ sbom.json: $components components, npm and Debian packages among them"

echo "✓ size: $(du -sm "$root" | cut -f1) MB unpacked, of it /app $(du -sm "$root/app" | cut -f1) MB"
