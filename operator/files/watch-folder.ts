/**
 * The operator of a single machine: reconciles a folder of YAML at the start, when a file changes, while something in
 * it waits, and periodically, to heal rows that drifted. Passes never overlap.
 */
import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../runtime/db/client.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import type { Log } from '../../runtime/platform/log.ts';
import type { Sealing } from '../../runtime/platform/sealing.ts';
import { printFault } from './fault.ts';
import { loadFolder } from './load.ts';
import { type FolderContext, type PassReport, reconcileFolder } from './reconcile-folder.ts';
import { createReporter } from './report.ts';

export type FolderOperatorOptions = {
  folder: string;
  db: Database;
  organization_id: string;
  sealing: Sealing;
  /** Called in every pass, so that a lost secret is written again. */
  writeSecret: FolderContext['writeSecret'];
  removeSecrets: FolderContext['removeSecrets'];
  clock: Clock;
  log: Log;
  /** No custom domain may be below it. */
  delivery_root_domain?: string;
  callback_egress?: FolderContext['callback_egress'];
  /** How often to compare the rows when no file changes. */
  resync_ms?: number;
  /** Awaited after each pass, before the next one begins. */
  onPass?: (() => Promise<void>) | undefined;
};

export type FolderOperator = {
  /** Returns the report of a pass that begins after this call. */
  pass(): Promise<PassReport>;
  /** Waits for the requested passes. */
  stop(): Promise<void>;
};

const RESYNC_MS = 30_000;
/** The interval while something waits for an event that no file shows, such as an upload. */
const WAITING_MS = 2000;
// Editors write a file in several steps: one pass covers them all.
const SETTLE_MS = 100;
/** A slow save may leave a file out for longer than its events are apart. */
const AWAY_MS = 1000;

/**
 * Resolves after the first pass; rejects with a one-line message if the folder cannot be read at
 * all.
 */
export async function startFolderOperator(options: FolderOperatorOptions): Promise<FolderOperator> {
  await checkFolder(options);
  const passes = createPasses(options);
  let again: NodeJS.Timeout | undefined;
  let isStopped = false;
  const lookAgain = ({ resources }: PassReport) => {
    clearTimeout(again);
    if (!isStopped && resources.some(({ outcome }) => outcome === 'waiting'))
      again = setTimeout(look, WAITING_MS).unref();
  };
  const look = () => void passes.pass().then(lookAgain, () => undefined);
  const report = await passes.pass();
  if (report.faults.length > 0)
    options.log.info('all other files of the folder are in effect', { folder: options.folder });
  lookAgain(report);
  const watching = watchFolder(options, look);
  return {
    pass: passes.pass,
    stop: async () => {
      isStopped = true;
      clearTimeout(again);
      watching.stop();
      await passes.idle();
    },
  };
}

async function checkFolder({ folder, organization_id }: FolderOperatorOptions): Promise<void> {
  const { faults } = await loadFolder(folder, organization_id);
  const unreadable = faults.find(({ file }) => file === folder);
  if (unreadable !== undefined) throw new Error(printFault(unreadable));
}

/** Runs one pass at a time; calls during a pass share the next one. */
function createPasses(options: FolderOperatorOptions) {
  const context = contextOf(options);
  const report = createReporter(options.log);
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<PassReport> | undefined;

  const run = async (): Promise<PassReport> => {
    const found = await reconcileFolder(options.folder, context);
    report(found);
    await options.onPass?.();
    return found;
  };
  const pass = (): Promise<PassReport> => {
    next ??= running.then(() => {
      next = undefined;
      const started = run();
      running = started.catch((error: unknown) => {
        options.log.error('the folder could not be reconciled', { folder: options.folder, error });
      });
      return started;
    });
    return next;
  };
  const idle = async (): Promise<void> => {
    while (next !== undefined) await next.catch(() => undefined);
    await running;
  };
  return { pass, idle };
}

function contextOf(options: FolderOperatorOptions): FolderContext {
  const { db, clock, sealing, organization_id, delivery_root_domain, callback_egress } = options;
  const { writeSecret, removeSecrets } = options;
  const scope = { organization_id, delivery_root_domain, callback_egress };
  const beforeDeletions = () => sleep(AWAY_MS);
  return { db, clock, sealing, ...scope, writeSecret, removeSecrets, beforeDeletions };
}

function watchFolder(
  { folder, resync_ms = RESYNC_MS, log }: FolderOperatorOptions,
  act: () => void,
) {
  let settling: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const settle = () => {
    clearTimeout(settling);
    settling = setTimeout(act, SETTLE_MS).unref();
  };
  // Reopened at every resync: after the folder is replaced, the old watcher reports nothing.
  const open = () => {
    watcher?.close();
    watcher = undefined;
    try {
      watcher = watch(folder, settle).unref();
      watcher.on('error', () => watcher?.close());
    } catch (error) {
      log.warn('the folder cannot be watched', { folder, error });
    }
  };
  const resync = setInterval(() => {
    open();
    act();
  }, resync_ms).unref();
  open();
  // Covers files that changed between the first pass and the start of watching.
  settle();
  return {
    stop: () => {
      clearTimeout(settling);
      clearInterval(resync);
      watcher?.close();
    },
  };
}
