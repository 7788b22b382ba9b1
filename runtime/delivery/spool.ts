/**
 * The local spool of usage: a line is on disk before the response ends, so that a killed process loses
 * nothing. Segments are numbered within a spool of a random id; (spool, sequence) makes a batch unique
 * however often it is sent. A spool folder belongs to one process at a time.
 * Spec: Metering.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A closed segment, to be sent as one batch and then removed. */
export type Segment = { spool_id: string; sequence: number; path: string };

export type Spool = {
  /** Written when it returns; throws when the disk refuses it. */
  append(line: object): void;
  /** Closes the current segment and lists all closed ones, those of earlier processes first. */
  closedSegments(): Promise<Segment[]>;
  remove(segment: Segment): Promise<void>;
};

const SEGMENT_NAME = /^(\d{10})\.ndjson$/;

export function openSpool(folder: string): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const spool_id = randomUUID();
  let sequence = 0;
  let file: number | undefined;

  const open = () => {
    mkdirSync(join(folder, spool_id), { recursive: true });
    sequence += 1;
    return openSync(segmentPath(folder, spool_id, sequence), 'a', 0o600);
  };
  const close = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };

  return {
    append: (line) => {
      file ??= open();
      writeSync(file, `${JSON.stringify(line)}\n`);
    },
    closedSegments: () => {
      close();
      return listSegments(folder, spool_id);
    },
    remove: async (segment) => {
      await rm(segment.path, { force: true });
      if (segment.spool_id !== spool_id) await removeIfEmpty(join(folder, segment.spool_id));
    },
  };
}

/** The lines of a segment; a last line that a kill cut short is left out, its response never ended. */
export async function readSegment(segment: Segment): Promise<unknown[]> {
  const text = await readFile(segment.path, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => parseLine(line));
}

// A kill can also leave a torn line in the middle when the next append follows it on the same disk block.
function parseLine(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

function segmentPath(folder: string, spoolId: string, sequence: number): string {
  return join(folder, spoolId, `${String(sequence).padStart(10, '0')}.ndjson`);
}

async function listSegments(folder: string, ownSpoolId: string): Promise<Segment[]> {
  const spools = (await readdir(folder)).sort(
    (a, b) => Number(a === ownSpoolId) - Number(b === ownSpoolId),
  );
  const lists = await Promise.all(spools.map((spool_id) => listSpool(folder, spool_id)));
  return lists.flat();
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

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => undefined);
}
