import { describe, expect, it } from 'vitest';
import {
  boundedText,
  nameText,
  plainText,
  sentTimestamp,
} from '../../../../runtime/core/resources/wire.ts';

describe('a name', () => {
  it('is counted in characters, not in UTF-16 units', () => {
    expect(nameText(3).parse(' 😀😀😀 ')).toBe('😀😀😀');
    expect(nameText(3).safeParse('😀😀😀😀').success).toBe(false);
  });
});

describe('a text', () => {
  it('is counted in characters and kept as it is', () => {
    expect(boundedText(3).parse(' 😀\n')).toBe(' 😀\n');
    expect(boundedText(3).safeParse('😀😀😀😀').success).toBe(false);
  });

  it('with U+0000 or a lone surrogate is rejected, since PostgreSQL cannot store it', () => {
    for (const text of ['a\0b', '\ud83d', '\ude00\ud83d']) {
      for (const schema of [plainText('a text'), boundedText(9)]) {
        const messages = schema.safeParse(text).error?.issues.map(({ message }) => message);
        expect(messages).toEqual([
          expect.stringMatching(/^expected a text.*; U\+0000 and lone surrogates/),
        ]);
      }
    }
  });
});

describe('a timestamp in a request', () => {
  it.each([
    ['2026-01-01T10:31Z', '2026-01-01T10:31:00.000Z'],
    ['2026-01-01T10:31+01:00', '2026-01-01T09:31:00.000Z'],
    ['2026-01-01T10:31:59.9999999Z', '2026-01-01T10:31:59.999Z'],
    ['0001-01-01T00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9998-12-31T23:59:59.999Z', '9998-12-31T23:59:59.999Z'],
  ])('%s is read as %s', (text, instant) => {
    expect(sentTimestamp.parse(text).toISOString()).toBe(instant);
  });

  it.each([
    '0000-12-31T23:59:59.999Z',
    '9999-01-01T00:00Z',
    '0001-01-01T00:00+00:01',
    '9998-12-31T23:59-00:01',
    '2026-01-01',
    '2026-01-01T10Z',
    '2026-01-01T10:31',
    '2026-02-30T10:31Z',
    '+002026-01-01T10:31Z',
    '',
  ])('%s is rejected with a message that shows the expected form', (text) => {
    const messages = sentTimestamp.safeParse(text).error?.issues.map(({ message }) => message);
    expect(messages).toEqual([expect.stringMatching(/^expected an ISO 8601 timestamp such as /)]);
  });
});
