/**
 * The folder in which Tintype on one machine keeps everything: database, images, secrets, spool. Only one Tintype at a
 * time may use it.
 */
import { createHash } from 'node:crypto';
import { realpath, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Advice } from '../platform/advice.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { holdSocket } from './lock-socket.ts';

export type DataFolder = { path: string; release(): Promise<void> };

/**
 * Creates the folder if needed, checks that it is writable, and claims it until `release` or the
 * end of the process.
 */
export async function claimDataFolder(folder: string): Promise<DataFolder> {
  const path = resolve(folder);
  await requireWritable(path);
  const lock = await claim(path);
  return { path, release: () => new Promise((done) => lock.close(() => done())) };
}

/** Not empty, because a full disk still accepts an empty file. */
const PROBE = 'x'.repeat(4096);

async function requireWritable(path: string): Promise<void> {
  try {
    makeFolder(path);
    const probe = join(path, `.probe-${process.pid}`);
    await writeFile(probe, PROBE).finally(() => rm(probe, { force: true }));
  } catch (cause) {
    throw new Advice(`${path} ${whyUnusable(codeOf(cause))}`, { cause });
  }
}

function whyUnusable(code: string): string {
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'is a file: name a folder with --data';
  return `cannot be written (${code}): name another folder with --data, or give this user space and write permission there`;
}

async function claim(path: string): Promise<Server> {
  const held = await holdSocket(await lockAddress(path)).catch((cause: unknown) => {
    throw new Advice(
      `${path} cannot be locked (${codeOf(cause)}): name another folder with --data`,
      { cause },
    );
  });
  if (held !== undefined) return held;
  throw new Advice(
    `another Tintype is running on ${path}: stop it first, or start this one with --data OTHER_FOLDER`,
  );
}

async function lockAddress(path: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await realpath(path))
    .digest('hex')
    .slice(0, 32);
  // Linux: an abstract socket leaves no file behind. Elsewhere, a file in the temporary folder
  // serves.
  if (process.platform === 'linux') return `\0tintype-${digest}`;
  return join(tmpdir(), `tintype-${digest}.sock`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
