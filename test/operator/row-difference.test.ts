// Spec: Project (callback_url).
import { expect, it } from 'vitest';
import { fieldsOf, GeneratedValue, printDifference } from '../../operator/row-difference.ts';

const line = (written: object, row?: object) =>
  printDifference({
    ...{ action: row === undefined ? 'insert' : 'update', table: 'projects', row: 'shop' },
    fields: fieldsOf(written, row),
  });

it('only the origin of a callback URL is printed, as the rest may be a secret', () => {
  const [from, to] = ['https://a.example/hook?token=1', 'https://b.example/'];
  expect(line({ callback_url: from })).toBe(
    '+ projects shop { callback_url: "https://a.example/…" }',
  );
  expect(line({ callback_url: to }, { callback_url: from })).toBe(
    '~ projects shop { callback_url: "https://a.example/…" → "https://b.example/" }',
  );
  expect(line({ callback_url: null }, { callback_url: from })).toBe(
    '~ projects shop { callback_url: "https://a.example/…" → null }',
  );
});

it('a value that is made during the write is printed in brackets, and so is the previous one', () => {
  const written = { callback_secret_sealed: new GeneratedValue('a new secret') };
  expect(line(written)).toBe('+ projects shop { callback_secret_sealed: (a new secret) }');
  expect(line(written, { callback_secret_sealed: Buffer.from('x') })).toBe(
    '~ projects shop { callback_secret_sealed: (the one before) → (a new secret) }',
  );
});
