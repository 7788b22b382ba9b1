/**
 * The local spool of usage: a line is on disk before the response ends, so that a killed process loses
 * nothing. Segments are numbered within a spool of a random id; a closed one never changes, so that
 * (spool, sequence) makes its batch unique however often it is sent. Each process has a spool of its own in the
 * folder, and sends those of processes that have ended. Spec: Metering.
 */
import { closeSync, openSync, readdirSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Advice } from '../platform/advice.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { reasonOf } from '../platform/reason-of.ts';
import { createSpoolLocks, type SpoolLocks } from './spool-locks.ts';

/** A closed segment, to be sent as one batch and then removed. */
export type Segment = { spool_id: string; sequence: number; path: string };

export type Spool = {
  /** Written when it returns; throws when the disk refuses it. */
  append(line: object): void;
  /** Closes the current segment and lists all closed ones, those of processes that have ended first. */
  closedSegments(): Promise<Segment[]>;
  remove(segment: Segment): Promise<void>;
  /** Of all these and the current one, one after the other; a file that cannot be read counts as none. */
  countLines(): Promise<number>;
  /** Keeps a segment that can never be sent, under another name, for a person to look at. */
  setAside(segment: Segment): Promise<string>;
  /** Nothing is written any more: whoever else has the folder may send what is left. */
  end(): void;
};

const LINE_FEED = 10;
const SEGMENT_NAME = /^(\d{10})\.ndjson$/;

/** `own` is the new spool's id, never used before. A folder that cannot be used ends the start. */
export function openSpool(folder: string, own: string): Spool {
  prepareFolder(folder);
  const locks = createSpoolLocks(folder);
  const tail = openTail(folder, own, locks);
  const listOurs = () => listSegments(folder, own, locks);
  return {
    append: (line) => tail.write(`${JSON.stringify(line)}\n`),
    closedSegments: async () => {
      const closed = tail.close();
      const segments = await listOurs();
      // A line that came while the folder was read has begun a segment that is not closed.
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
      locks.letGoOfAll();
    },
  };
}

/** The segment that is being written: made with its first line. */
function openTail(folder: string, spoolId: string, locks: SpoolLocks) {
  let sequence = 0;
  let file: number | undefined;
  let isEmpty = true;
  const create = () => {
    // Before there is anything that another process could take.
    locks.take(spoolId);
    makeFolder(join(folder, spoolId));
    const created = openSync(segmentPath(folder, spoolId, sequence + 1), 'a', 0o600);
    // Only now: a number without a file would be looked for as a piece that never came.
    sequence += 1;
    isEmpty = true;
    return created;
  };
  const discard = () => {
    rmSync(segmentPath(folder, spoolId, sequence), { force: true });
    sequence -= 1;
  };
  /** The number of the newest segment: nothing is written to it any more. */
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
      // What follows a torn line must not be read as its end: it goes to the next segment.
      close();
      // On a full disk there would be one without a line for every delivery.
      if (isEmpty) discard();
      throw error;
    }
  };
  return { write, close };
}

/** A disk that fills up takes a part of what is written, and refuses only the rest. */
function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** The lines of a segment; a last line that was cut short is left out: its response never ended. */
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
    if (segments.length === 0) locks.letGo(spool_id);
    // Who had it may have sent some before it ended.
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

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder);
    removeEmptySpools(folder);
  } catch (cause) {
    throw new Advice(
      `TINTYPE_SPOOL_DIR: expected a folder that this user may write in (${reasonOf(cause)}); for example TINTYPE_SPOOL_DIR=/var/spool/tintype`,
      { cause },
    );
  }
}

/** Earlier processes leave one folder each; what is not empty refuses to go. */
function removeEmptySpools(folder: string): void {
  for (const name of readdirSync(folder)) {
    try {
      rmdirSync(join(folder, name));
    } catch {}
  }
}
