// Spec: Errors. The texts of the pages about error codes: whole sentences, steps, and valid examples.
import { describe, expect, it } from 'vitest';
import { browserClientErrors } from '../../../runtime/core/browser-client-errors.ts';
import { errorGroups } from '../../../runtime/core/error-help/error-groups.ts';
import { type ErrorEntry, errorPages } from '../../../runtime/core/error-help/error-pages.ts';
import {
  apiErrors,
  deliveryErrors,
  helperErrors,
  processingErrors,
  verifierReasons,
} from '../../../runtime/core/errors.ts';
import { FAILED_RENDER_REMEMBERED_SECONDS } from '../../../runtime/core/limits.ts';

const tables = {
  api: apiErrors,
  delivery: deliveryErrors,
  processing: processingErrors,
  helper: helperErrors,
  browser_client: browserClientErrors,
  verifier: verifierReasons,
};

const entries = [...errorPages.values()].flat();
const named = ({ surface, code }: ErrorEntry) => `${surface} ${code}`;
const detailsOf = ({ example }: ErrorEntry) =>
  (example as { error: { details?: object } }).error.details;

describe('the error pages', () => {
  it('have an entry for every code of every surface, and no other', () => {
    const codes = Object.entries(tables).flatMap(([surface, rows]) =>
      Object.keys(rows).map((code) => `${surface} ${code}`),
    );
    expect(entries.map(named).toSorted()).toEqual(codes.toSorted());
  });

  it('are each listed once in the index', () => {
    const listed = errorGroups().flatMap((group) => group.entries);
    expect(listed.map(named).toSorted()).toEqual(entries.map(named).toSorted());
  });

  it('show in an API example exactly the details that the error table lists', () => {
    for (const entry of entries.filter(({ surface }) => surface === 'api')) {
      const row = apiErrors[entry.code as keyof typeof apiErrors];
      const keys = 'details' in row ? row.details : [];
      expect(Object.keys(detailsOf(entry) ?? {}).toSorted(), entry.code).toEqual(
        [...keys].toSorted(),
      );
    }
  });

  it('consist of whole sentences in cause and steps', () => {
    for (const { code, cause, steps } of entries) {
      expect(steps.length, code).toBeGreaterThan(0);
      for (const text of [cause, ...steps]) expect(text, code).toMatch(/^[A-Z`].*[.]$/s);
    }
  });

  it('state on the page of the delivery code internal when a failed render is retried', () => {
    const { steps } = entries.find((entry) => named(entry) === 'delivery internal') ?? {};
    expect(steps?.[0]).toContain(`after ${FAILED_RENDER_REMEMBERED_SECONDS} seconds`);
  });

  it('mention only existing codes', () => {
    const codes = new Set(entries.map(({ code }) => code));
    const sentences = entries.flatMap(({ cause, steps }) => [cause, ...steps]).join(' ');
    for (const [word] of sentences.matchAll(
      /\b[a-z]+_(?:by_staff|failed|mismatch|expired|disabled)\b/g,
    ))
      expect(codes, word).toContain(word);
  });
});
