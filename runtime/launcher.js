#!/usr/bin/env node
/**
 * Starts main.ts under Node 24: the machine's own Node if it is new enough, otherwise the one that make has fetched.
 * Plain JavaScript, because an older Node must be able to read it.
 *
 * Compiled code is cached beside the packages, which halves the time of the next start; an image includes the cache.
 * If that folder is not writable, each start compiles anew.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const fetched = fileURLToPath(new URL('../.tools/node/bin/node', import.meta.url));
const compiled = fileURLToPath(new URL('../node_modules/.cache/tintype', import.meta.url));

if (process.pid === 1) endWhenTold();

if (isBareClone()) {
  process.stderr.write(
    'tintype: its packages are not here: run `make up` first, it fetches them.\n',
  );
  process.exitCode = 1;
} else if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  process.argv[1] = main;
  module.enableCompileCache(compiled);
  await import('./main.ts');
} else if (existsSync(fetched)) {
  startWith(fetched);
} else {
  process.stderr.write(
    `tintype: Node ${NODE_MAJOR_MIN} or newer is needed and this is ${process.versions.node}: run \`make up\` first, it fetches one.\n`,
  );
  process.exitCode = 1;
}

/** Whether the packages were never installed, or not completely. */
function isBareClone() {
  const isThere = (/** @type {string} */ path) => existsSync(new URL(path, import.meta.url));
  return isThere('../package-lock.json') && !isThere('../node_modules/commander');
}

/**
 * PID 1 of a container ignores signals that it does not handle: a pod deleted while it starts would
 * live on until it is killed. Once another handler is registered, it decides.
 */
function endWhenTold() {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}

/** @param {string} node */
function startWith(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compiled, ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(
      `tintype: ${node} does not start (${error.message}): run \`make up\`, which fetches it anew.\n`,
    );
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}
