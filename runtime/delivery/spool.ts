/**
 * The local spool of usage: a line is on disk before the response ends, so that a killed process loses nothing.
 * Segments are numbered within a spool that has a random id. A closed segment never changes, so (spool, sequence)
 * identifies its batch however often it is sent. Each process has its own spool in the folder, and sends the spools of
 * processes that have ended. Spec: Metering.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Advice } from '../platform/advice.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { reasonOf } from '../platform/reason-of.ts';
import { createSpoolLocks, lockPath, type SpoolLocks } from './spool-locks.ts';

/** A closed segment: sent as one batch and then removed. */
export type Segment = { spool_id: string; sequence: number; path: string };

export type Spool = {
  /** The line is on disk when this returns; throws when the disk refuses it. */
  append(line: object): void;
  /** Closes the current segment and lists all closed ones, those of ended processes first. */
  closedSegments(): Promise<Segment[]>;
  remove(segment: Segment): Promise<void>;
  /**
   * Counts the lines of all closed segments and the current one, file by file; an unreadable file
   * counts as empty.
   */
  countLines(): Promise<number>;
  /** Renames a segment that can never be sent, and keeps it for a person to look at. */
  setAside(segment: Segment): Promise<string>;
  /** Stops writing: any other process that has the folder may send what is left. */
  end(): void;
};

const LINE_FEED = 10;
const SEGMENT_NAME = /^(\d{10})\.ndjson$/;

/** `own` is the new spool's id, never used before. Throws when the folder cannot be used. */
export function openSpool(folder: string, own: string): Spool {
  const locks = prepareFolder(folder);
  const tail = openTail(folder, own, locks);
  const listOurs = () => listSegments(folder, own, locks);
  return {
    append: (line) => tail.write(`${JSON.stringify(line)}\n`),
    closedSegments: async () => {
      const closed = tail.close();
      const segments = await listOurs();
      // A line written while the folder was read has begun a segment that is not closed.
      return segments.filter(({ spool_id, sequence }) => spool_id !== own || sequence <= closed);
    },
    countLines: async () => {
      let lines = 0;
      for (const { path } of await listOurs().catch(() => [])) {
        const bytes = await readFile(path).catch(() => Buffer.alloc(0));
        lines += bytes.filter((byte) => byte === LINE_FEED).length;
      }
      return lines;
    },
    remove: ({ path }) => rm(path, { force: true }),
    setAside: async ({ path }) => {
      const aside = `${path}.rejected`;
      await rename(path, aside);
      return aside;
    },
    end: () => {
      tail.close();
      locks.releaseAll();
    },
  };
}

/** The segment being written; created with its first line. */
function openTail(folder: string, spoolId: string, locks: SpoolLocks) {
  let sequence = 0;
  let file: number | undefined;
  let isEmpty = true;
  const create = () => {
    // Lock first, before there is anything that another process could take.
    locks.take(spoolId);
    makeFolder(join(folder, spoolId));
    const created = openSync(segmentPath(folder, spoolId, sequence + 1), 'a', 0o600);
    // Count only now: a number without a file would be reported as a missing batch.
    sequence += 1;
    isEmpty = true;
    return created;
  };
  const discard = () => {
    rmSync(segmentPath(folder, spoolId, sequence), { force: true });
    sequence -= 1;
  };
  /** Closes the newest segment and returns its number: nothing more is written to it. */
  const close = () => {
    const closing = file;
    file = undefined;
    if (closing !== undefined) closeSync(closing);
    return sequence;
  };
  const write = (text: string) => {
    file ??= create();
    try {
      writeWhole(file, Buffer.from(text));
      isEmpty = false;
    } catch (error) {
      // A line that follows a torn one must not be read as its continuation: it goes to the next
      // segment.
      close();
      // Otherwise a full disk would leave one empty segment for every delivery.
      if (isEmpty) discard();
      throw error;
    }
  };
  return { write, close };
}

/** A disk that fills up accepts a part of the bytes, and refuses only the rest. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** The lines of a segment, without a last line that was cut short: its response never ended. */
export async function readSegment(segment: Segment): Promise<unknown[]> {
  const text = await readFile(segment.path, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function segmentPath(folder: string, spoolId: string, sequence: number): string {
  return join(folder, spoolId, `${String(sequence).padStart(10, '0')}.ndjson`);
}

async function listSegments(folder: string, own: string, locks: SpoolLocks): Promise<Segment[]> {
  const spools = (await readdir(folder)).sort((a, b) => Number(a === own) - Number(b === own));
  const lists = spools.map(async (spool_id) => {
    const segments = await listSpool(folder, spool_id);
    if (spool_id === own) return segments;
    if (segments.length === 0) locks.release(spool_id);
    // Listed again under the lock, because the previous holder may have sent some before it ended.
    return segments.length > 0 && locks.take(spool_id) ? listSpool(folder, spool_id) : [];
  });
  return (await Promise.all(lists)).flat();
}

async function listSpool(folder: string, spool_id: string): Promise<Segment[]> {
  const names = await readdir(join(folder, spool_id)).catch(() => []);
  return names
    .map((name) => SEGMENT_NAME.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b)
    .map((sequence) => ({ spool_id, sequence, path: segmentPath(folder, spool_id, sequence) }));
}

function prepareFolder(folder: string): SpoolLocks {
  try {
    makeFolder(folder);
    const locks = createSpoolLocks(folder);
    removeEmptySpools(folder);
    return locks;
  } catch (cause) {
    throw new Advice(
      `TINTYPE_SPOOL_DIR: expected a folder that this user may write in (${reasonOf(cause)}); for example TINTYPE_SPOOL_DIR=/var/spool/tintype`,
      { cause },
    );
  }
}

/** Removes the folders that earlier processes left; a folder stays if it is not empty, or locked. */
function removeEmptySpools(folder: string): void {
  for (const name of readdirSync(folder)) {
    // Its process may be about to write in it.
    if (existsSync(lockPath(folder, name))) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {}
  }
}
