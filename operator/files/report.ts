/**
 * Logs what a pass found, each finding once: when it appears or changes, not in every pass. A change of rows is either
 * a new declaration, or the end of a change that somebody else had made.
 */
import type { Log } from '../../runtime/platform/log.ts';
import { hasUndone, printDifference, UNDONE } from '../row-difference.ts';
import type { Note } from './fault.ts';
import type { PassReport, ResourceReport } from './reconcile-folder.ts';

export function createReporter(log: Log): (report: PassReport) => void {
  let previous = new Set<string>();
  /** The specs that took effect in the last pass, by uid. */
  let inEffect = new Map<string, string>();
  return ({ faults, notes, resources }) => {
    const current = new Set<string>();
    const once = (what: unknown, write: () => void) => {
      const key = JSON.stringify(what);
      if (!previous.has(key)) write();
      current.add(key);
    };
    for (const fault of faults) {
      const { path, message: problem } = fault;
      once(fault, () => {
        log.warn('a declaration is wrong', { ...placeOf(fault), path: path || undefined, problem });
      });
    }
    for (const note of notes) {
      const reason = note.message;
      once(note, () => log.info('a declaration is ignored', { ...placeOf(note), reason }));
    }
    const takenEffect = new Map<string, string>();
    for (const report of resources) {
      const { identity, reason, message } = report;
      const spec = JSON.stringify([report.action, report.spec]);
      if (report.outcome === 'done') takenEffect.set(identity.uid, spec);
      const isUnchanged = inEffect.get(identity.uid) === spec;
      if (isUnchanged && hasUndone(report.changes)) reportUndone(log, report);
      else if (report.changes.length > 0) reportResource(log, report);
      else once([identity, reason, message], () => reportResource(log, report));
      current.add(JSON.stringify([identity, reason, message]));
    }
    previous = current;
    inEffect = takenEffect;
  };
}

/** A whole file or folder has no line. */
const placeOf = ({ file, line }: Note) => ({ file, line: line || undefined });

/** In the words of the operator's Event DriftHealed. */
function reportUndone(log: Log, { identity, place, differences }: ResourceReport): void {
  const { kind, name } = identity;
  const changes = differences.map(printDifference).join('; ');
  log.info(UNDONE, { ...place, kind, name, changes });
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
