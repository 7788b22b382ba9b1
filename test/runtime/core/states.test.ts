import { describe, expect, it } from 'vitest';
import * as states from '../../../runtime/core/states.ts';
import {
  additionalWebhookMoves,
  fileMoves,
  type Move,
  projectMoves,
  statesBefore,
  uploadMoves,
  webhookMoves,
} from '../../../runtime/core/states.ts';

const tables = [
  ['upload', states.uploadStatuses, states.uploadMoves, states.additionalUploadMoves],
  ['file', states.fileStatuses, states.fileMoves, states.additionalFileMoves],
  ['project', states.projectStatuses, states.projectMoves, states.additionalProjectMoves],
  ['quota', states.quotaStatuses, states.quotaMoves, states.additionalQuotaMoves],
  ['webhook', states.webhookStatuses, states.webhookMoves, states.additionalWebhookMoves],
] as const;

describe('the state tables', () => {
  it.each(tables)('%s: every move has a unique name', (_name, _all, moves, additional) => {
    const names = [...moves, ...additional].map((row: Move<string>) => row.move);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(tables)(
    '%s: every state is the start or the end of a move',
    (_name, all, moves, additional) => {
      const rows: readonly Move<string>[] = [...moves, ...additional];
      for (const state of all) {
        expect(rows.some((row) => row.to === state || row.from.includes(state))).toBe(true);
      }
    },
  );
});

describe('statesBefore', () => {
  it('returns the states in which a named move may start', () => {
    expect(statesBefore(uploadMoves, 'complete')).toEqual(['created']);
    expect(statesBefore(fileMoves, 'delete')).toEqual(['ready', 'blocked']);
    expect(statesBefore(uploadMoves, 'create')).toEqual([]);
    expect(statesBefore(additionalWebhookMoves, 'cancel')).toEqual(['pending', 'retry scheduled']);
  });

  it('returns a new list to every caller', () => {
    statesBefore(fileMoves, 'delete').length = 0;
    expect(statesBefore(fileMoves, 'delete')).toEqual(['ready', 'blocked']);
  });
});

function isMoveAllowed(table: readonly Move<string>[], from: string | null, to: string): boolean {
  return table.some(
    (row) => row.to === to && (from === null ? row.from.length === 0 : row.from.includes(from)),
  );
}

describe('the moves of the specification', () => {
  it('lead an upload from created via uploaded and processing to ready, failed or expired', () => {
    const allowed = states.uploadStatuses.flatMap((from) =>
      states.uploadStatuses
        .filter((to) => isMoveAllowed(uploadMoves, from, to))
        .map((to) => `${from} → ${to}`),
    );
    expect(allowed).toEqual([
      'created → uploaded',
      'created → expired',
      'uploaded → processing',
      'processing → ready',
      'processing → failed',
    ]);
    expect(isMoveAllowed(uploadMoves, null, 'created')).toBe(true);
    expect(isMoveAllowed(uploadMoves, null, 'ready')).toBe(false);
  });

  it('never lead out of deleted or abandoned', () => {
    for (const to of states.fileStatuses)
      expect(isMoveAllowed(fileMoves, 'deleted', to)).toBe(false);
    for (const to of states.webhookStatuses) {
      expect(isMoveAllowed(webhookMoves, 'abandoned', to)).toBe(false);
    }
    expect(isMoveAllowed(projectMoves, 'suspended', 'active')).toBe(true);
  });
});
