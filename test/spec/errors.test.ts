// Spec: Errors; Verifier failure reasons. Every code with its status on its surface, in both directions.
import { describe, expect, it } from 'vitest';
import { browserClientErrors } from '../../runtime/core/browser-client-errors.ts';
import {
  additionalDeliveryCodes,
  additionalErrors,
  apiErrors,
  deliveryErrors,
  type ErrorRow,
  errorEnvelope,
  helperErrors,
  helperRelayedCodes,
  processingErrors,
  SESSION_FAILURE_STATUS,
  verifierReasons,
} from '../../runtime/core/errors.ts';
import additions from './additions.json' with { type: 'json' };
import { differences, NONE, type Table, tableOf } from './differences.ts';
import errors from './errors.json' with { type: 'json' };

type SpecifiedCode = { code: string; status: number; details?: string[]; headers?: string[] };

function specified(rows: readonly SpecifiedCode[], surface: 'api' | 'delivery'): Table {
  const ours: SpecifiedCode[] = additions.errors.filter((row) => row.surface === surface);
  return tableOf(withOurDetails([...rows, ...ours], surface), (row) => row.code, facts);
}

function facts({ status, details = [], headers = [] }: SpecifiedCode): unknown {
  return { status, details, retry_after: headers.includes('retry-after') };
}

/** The specification's keys of `details`, followed by our own. */
function withOurDetails(rows: readonly SpecifiedCode[], surface: string): SpecifiedCode[] {
  const ours = additions.error_details.filter((row) => row.surface === surface);
  return rows.map((row) => {
    const more = ours.find(({ code }) => code === row.code)?.details ?? [];
    return more.length === 0 ? row : { ...row, details: [...(row.details ?? []), ...more] };
  });
}

function coded(rows: Readonly<Record<string, ErrorRow>>): Table {
  return tableOf(
    Object.entries(rows),
    ([code]) => code,
    ([, { status, details = [], retry_after = false }]) => ({ status, details, retry_after }),
  );
}

/** The keys that a sentence of the specification names, as in `details.accepted lists …`. */
function detailsOf(meaning: string): string[] {
  return [...meaning.matchAll(/details\.([a-z_]+)/g)].map(([, key = '']) => key);
}

const words = (names: readonly string[]): Table =>
  Object.fromEntries(names.map((name) => [name, true]));

/** The imperatives that messages may use. Whoever needs a new one adds it here, for review. */
const IMPERATIVES = [
  ...['Add', 'Ask', 'Block', 'Cancel', 'Change', 'Check', 'Choose', 'Clear', 'Complete', 'Contact'],
  ...[
    'Convert',
    'Correct',
    'Create',
    'Delete',
    'Export',
    'Expose',
    'Follow',
    'Have',
    'Leave',
    'List',
  ],
  ...[
    'Look',
    'Make',
    'Map',
    'Mint',
    'Move',
    'Name',
    'Open',
    'Pass',
    'Prepare',
    'Read',
    'Remove',
    'Repeat',
  ],
  ...['Revoke', 'Rotate', 'See', 'Send', 'Set', 'Sign', 'Start', 'Try', 'Upload', 'Use', 'Verify'],
  ...['Wait'],
];
/** An imperative begins a sentence, or a clause after a semicolon or colon. */
const ASKS = new RegExp(
  `(?:^|[.] )(?:${IMPERATIVES.join('|')})\\b|[;:] (?:${IMPERATIVES.join('|').toLowerCase()})\\b`,
);

describe('errors', () => {
  it('the API has every code of the specification with its status, details and Retry-After, and no other', () => {
    expect(differences(specified(errors.api.rows, 'api'), coded(apiErrors))).toEqual(NONE);
  });

  it('a delivery host has every code of the specification with its status, and no other', () => {
    const table = specified(errors.delivery.rows, 'delivery');
    expect(differences(table, coded(deliveryErrors))).toEqual(NONE);
  });

  it('additional codes are exactly those that the additions give a reason for', () => {
    const ours = (surface: string) =>
      words(additions.errors.filter((row) => row.surface === surface).map((row) => row.code));
    expect(differences(ours('api'), words(Object.keys(additionalErrors)))).toEqual(NONE);
    expect(differences(ours('delivery'), words(additionalDeliveryCodes))).toEqual(NONE);
  });

  it('additional details belong to existing codes, and are not in the specification', () => {
    for (const { code, details } of additions.error_details) {
      const row = errors.api.rows.find((each) => each.code === code);
      expect(row, code).toBeDefined();
      expect(details.filter((key) => row?.details?.includes(key))).toEqual([]);
    }
  });

  it('the processing error codes are those of the specification, and no other', () => {
    const codes = errors.processing.rows.map((row) => row.error_code);
    expect(differences(words(codes), words(Object.keys(processingErrors)))).toEqual(NONE);
  });

  it("a failed session's code is answered with the specified status", () => {
    const statuses = errors.api.pass_through.map((row) => row.status);
    expect(statuses).toEqual([SESSION_FAILURE_STATUS]);
  });

  it('the upload helper has every code of its own with its status and details, and no other', () => {
    const own = errors.upload_helper.rows.filter((row) => /^[a-z_]+$/.test(row.code));
    const relayed = new Set<string>(helperRelayedCodes);
    const code = Object.entries(helperErrors).filter(([name]) => !relayed.has(name));
    expect(
      differences(
        tableOf(
          own,
          (row) => row.code,
          (row) => [[row.status], detailsOf(row.meaning)],
        ),
        tableOf(
          code,
          ([name]) => name,
          ([, row]) => [row.statuses, 'details' in row ? row.details : []],
        ),
      ),
    ).toEqual(NONE);
  });

  it('the codes that the upload helper relays have the specified statuses', () => {
    const rows = errors.upload_helper.rows.filter((row) => !/^[a-z_]+$/.test(row.code));
    const statuses = rows.map((row) => String(row.status).match(/\d{3}/g)?.map(Number));
    expect(helperRelayedCodes.map((code) => [...helperErrors[code].statuses])).toEqual(statuses);
    const custom = rows.map((row) => String(row.status).endsWith('or custom'));
    expect(helperRelayedCodes.map((code) => 'or_custom' in helperErrors[code])).toEqual(custom);
  });

  it('the browser client has every code of the specification, and no other', () => {
    const codes = errors.browser_client.rows.map((row) => row.code);
    expect(differences(words(codes), words(Object.keys(browserClientErrors)))).toEqual(NONE);
  });

  it('the webhook verifier has every failure reason of the specification, and no other', () => {
    const reasons = errors.verifier_reasons.rows.map((row) => row.reason);
    expect(differences(words(reasons), words(Object.keys(verifierReasons)))).toEqual(NONE);
  });

  it('the envelope has the specified fields, and details only if there are any', () => {
    const full = errorEnvelope({ code: 'not_found', message: 'No.', details: { a: 1 } });
    expect(Object.keys(full.error)).toEqual(Object.keys(errors.envelope.fields.error));
    expect(errorEnvelope({ code: 'not_found', message: 'No.' })).toEqual({
      error: { code: 'not_found', message: 'No.' },
    });
  });

  it('every code has its own message in full sentences that says what to do', () => {
    const rowTables = [apiErrors, deliveryErrors, processingErrors, helperErrors];
    const tables = [
      ...rowTables.map((table) => Object.values(table).map((row) => row.message)),
      ...[browserClientErrors, verifierReasons].map((table) => Object.values<string>(table)),
    ];
    for (const messages of tables) {
      expect(messages.filter((message) => !ASKS.test(message))).toEqual([]);
      expect(messages.filter((message) => !/^[A-Z].{10,}\.$/.test(message))).toEqual([]);
      expect(new Set(messages).size).toBe(messages.length);
    }
  });
});
