// Spec: Library sessions and the picker. The picker's messages for rejected calls and for images that fail.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { processingErrors } from '../../../runtime/core/errors.ts';
import { FILE_FAULTS } from '../../../runtime/core/file-faults.ts';
import { errorText, NOT_RETRYABLE, textsOf } from '../../../runtime/web/picker/texts.ts';
import { projectRoot } from '../../house/source-files.ts';

/**
 * Codes without a text: the picker cannot cause them, or (`internal`) the service does not know the
 * cause.
 */
const NEVER = [
  'content_type_mismatch',
  'idempotency_in_progress',
  'idempotency_key_reused',
  'internal',
  'invalid_cursor',
  'invalid_json',
  'invalid_request',
  'invalid_search',
  'invalid_signature',
  'length_required',
  'payload_too_large',
  'sha256_mismatch',
  'unauthorized',
];

type Document = {
  paths: Record<string, unknown>;
  components: { responses: Record<string, unknown> };
};

function documentedCodes(): string[] {
  const text = readFileSync(join(projectRoot, 'runtime/api/openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as Document;
  const called = Object.entries(paths).filter(([path]) =>
    /^\/v1\/(library\/|uploads\/)/.test(path),
  );
  const answers = JSON.stringify(called).replaceAll(
    /"#\/components\/responses\/([^"]+)"/g,
    (_, name: string) => JSON.stringify(components.responses[name]),
  );
  const lists = answers.matchAll(/"code":\{"(?:enum|const)":(\[[^\]]*\]|"[^"]*")/g);
  return [...lists].flatMap(([, codes = '[]']) => JSON.parse(codes) as string | string[]).flat();
}

it('the picker has a text in every language for each error code that its calls can return', () => {
  const codes = new Set([...documentedCodes(), ...Object.keys(processingErrors)]);
  expect(codes.size).toBeGreaterThan(25);
  for (const language of ['en', 'de'] as const) {
    const texts = textsOf(language);
    const untranslated = [...codes].filter(
      (code) => errorText(texts, code) === texts.unknown(code),
    );
    expect(untranslated.toSorted(), language).toEqual(NEVER);
  }
});

// The picker's page cannot import core, so this keeps the two lists in step.
it('the picker offers no retry for an error that is the fault of the file', () => {
  expect([...NOT_RETRYABLE]).toEqual(expect.arrayContaining([...FILE_FAULTS]));
});
