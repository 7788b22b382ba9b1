/** Logs what a pass found, each finding once: when it appears or changes, not in every pass. */
import type { Log } from '../../runtime/platform/log.ts';
import type { PassReport, ResourceReport } from './reconcile-folder.ts';

export function createReporter(log: Log): (report: PassReport) => void {
  let previous = new Set<string>();
  return ({ faults, notes, resources }) => {
    const current = new Set<string>();
    const once = (what: unknown, write: () => void) => {
      const key = JSON.stringify(what);
      if (!previous.has(key)) write();
      current.add(key);
    };
    for (const fault of faults) {
      const { file, line, path, message: expected } = fault;
      once(fault, () => log.warn('a declaration is wrong', { file, line, path, expected }));
    }
    for (const note of notes) {
      const { file, line, message: reason } = note;
      once(note, () => log.info('a declaration is ignored', { file, line, reason }));
    }
    for (const report of resources) {
      const { identity, reason, message } = report;
      if (report.changes.length > 0) reportResource(log, report);
      else once([identity, reason, message], () => reportResource(log, report));
      current.add(JSON.stringify([identity, reason, message]));
    }
    previous = current;
  };
}

const levels = {
  done: 'info',
  waiting: 'info',
  held: 'warn',
  refused: 'warn',
  failed: 'error',
} as const;

function reportResource(log: Log, report: ResourceReport): void {
  const { identity, place, action, outcome, reason, message, changes, error } = report;
  const { kind, name } = identity;
  // The row of a resource that is long gone is no news.
  if (action === 'delete' && changes.length === 0 && outcome === 'done') return;
  const isGone = action === 'delete' && outcome === 'done';
  log[levels[outcome]](isGone ? 'a deletion is in effect' : sentences[outcome], {
    ...place,
    kind,
    name,
    reason,
    advice: message,
    changes: changes.length > 0 ? changes.join(', ') : undefined,
    error,
  });
}

const sentences = {
  done: 'a declared resource is in effect',
  waiting: 'a declared resource waits',
  held: 'a declared resource is held back',
  refused: 'a declared resource is refused',
  failed: 'a declared resource could not be reconciled',
} as const;
