// Spec: States and transitions. The five tables, row by row and word for word, in both directions.
import { describe, expect, it } from 'vitest';
import { fileRecord } from '../../runtime/core/resources/file.ts';
import { uploadRecord } from '../../runtime/core/resources/upload.ts';
import { webhookDeliveryRecord } from '../../runtime/core/resources/webhook-delivery.ts';
import * as states from '../../runtime/core/states.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table, tableOf } from './differences.ts';
import specification from './states.json' with { type: 'json' };

type SpecifiedRow = (typeof specification.upload.rows)[number];
type Move = states.Move<string>;

const tables: Record<
  string,
  { rows: SpecifiedRow[]; moves: readonly Move[]; ours: readonly Move[] }
> = {
  upload: {
    rows: specification.upload.rows,
    moves: states.uploadMoves,
    ours: states.additionalUploadMoves,
  },
  file: {
    rows: specification.file.rows,
    moves: states.fileMoves,
    ours: states.additionalFileMoves,
  },
  project: {
    rows: specification.project.rows,
    moves: states.projectMoves,
    ours: states.additionalProjectMoves,
  },
  quota: {
    rows: specification.quota.rows,
    moves: states.quotaMoves,
    ours: states.additionalQuotaMoves,
  },
  webhook: {
    rows: specification.webhook.rows,
    moves: states.webhookMoves,
    ours: states.additionalWebhookMoves,
  },
};

const rowName = (state: readonly string[], mover: string, next: string) =>
  `${state.join(' or ') || '(none)'} → ${next}: ${mover}`;

function statesOf(text: string): string[] {
  return text === '(none)' ? [] : text.split(' or ');
}

function specified(rows: readonly SpecifiedRow[]): Table {
  return tableOf(
    rows,
    (row) => rowName(statesOf(row.state), row.mover, row.next),
    (row) => ({ condition: row.condition, effects: row.effects }),
  );
}

function coded(moves: readonly Move[]): Table {
  return tableOf(
    moves,
    (move) => rowName(move.from, move.moved_by, move.to),
    (move) => ({ condition: move.condition, effects: move.also_happens }),
  );
}

describe.each(Object.entries(tables))('the states of %s', (name, { rows, moves, ours }) => {
  it('match the specification row by row, in its words', () => {
    expect(differences(specified(rows), coded(moves))).toEqual(NONE);
  });

  it('are in the order of the specification', () => {
    expect(Object.keys(coded(moves))).toEqual(Object.keys(specified(rows)));
  });

  it('include additional rows only if the additions give a reason', () => {
    const expected = additions.state_rows
      .filter((row) => row.table === name)
      .map((row) => rowName(row.state, row.mover, row.next));
    expect(ours.map((move) => rowName(move.from, move.moved_by, move.to))).toEqual(expected);
  });

  it('have a unique name for every move', () => {
    const names = [...moves, ...ours].map((move) => move.move);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the other state sets', () => {
  it('have every value of the specification, and no other', () => {
    expect(differences(specification.other.sets, states.otherStateSets)).toEqual(NONE);
  });

  it('include additional values only if the additions give a reason', () => {
    const expected = tableOf(
      additions.state_sets,
      (row) => row.set,
      (row) => row.values,
    );
    expect(differences(expected, states.additionalStateSets)).toEqual(NONE);
  });
});

describe('the status values of API records', () => {
  const shown = { upload: uploadRecord, file: fileRecord, webhook: webhookDeliveryRecord };

  it.each(Object.entries(shown))('of %s are the states of its table', (name, record) => {
    const { moves = [], ours = [] } = tables[name] ?? {};
    const all = [...moves, ...ours].flatMap((move) => [...move.from, move.to]);
    expect([...record.shape.status.options].sort()).toEqual([...new Set(all)].sort());
  });
});
