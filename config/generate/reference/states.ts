/** The state tables of runtime/core/states.ts, with our additions at the end. */
import {
  additionalFileMoves,
  additionalProjectMoves,
  additionalQuotaMoves,
  additionalStateSets,
  additionalUploadMoves,
  additionalWebhookMoves,
  fileMoves,
  type Move,
  otherStateSets,
  projectMoves,
  quotaMoves,
  uploadMoves,
  webhookMoves,
} from '../../../runtime/core/states.ts';
import { code, codes, table } from './markdown.ts';

export const stateTables: ReadonlyMap<string, () => string> = new Map([
  ['upload', () => moveTable([...uploadMoves, ...additionalUploadMoves])],
  ['file', () => moveTable([...fileMoves, ...additionalFileMoves])],
  ['project', () => moveTable([...projectMoves, ...additionalProjectMoves])],
  ['quota', () => moveTable([...quotaMoves, ...additionalQuotaMoves])],
  ['webhook', () => moveTable([...webhookMoves, ...additionalWebhookMoves])],
  ['other', otherTable],
]);

function moveTable(moves: readonly Move<string>[]): string {
  const rows = moves.map((move) => [
    move.from.length === 0 ? '(none)' : codes(move.from),
    move.moved_by,
    move.condition,
    code(move.to),
    move.also_happens,
  ]);
  return table(['state', 'moved by', 'condition', 'next', 'also happens'], rows);
}

function otherTable(): string {
  const sets = Object.keys(otherStateSets) as (keyof typeof otherStateSets)[];
  const rows = sets.map((set) => [
    set,
    codes([...otherStateSets[set], ...additionalStateSets[set]]),
  ]);
  return table(['set', 'values'], rows);
}
