import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorScope, parseCursor, printCursor } from '../../../runtime/core/cursor.ts';
import { CURSOR_LENGTH_MAX } from '../../../runtime/core/limits.ts';

const key = Buffer.alloc(32, 7);
const keys = [key];
const scope: CursorScope = {
  route: 'GET /files',
  project_id: 'prj_1',
  sort: 'uploaded',
  filters: '',
};
const position = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 4 });
const refused = expect.objectContaining({ code: 'invalid_cursor', status: 400 });

describe('cursors', () => {
  it('read back the keys that were printed', () => {
    fc.assert(
      fc.property(position, (texts) => {
        const wellFormed = texts.map((text) => text.toWellFormed());
        expect(parseCursor(keys, scope, printCursor(keys, scope, wellFormed))).toEqual(wellFormed);
      }),
    );
  });

  it('reject any changed character', () => {
    const cursor = printCursor(keys, scope, ['2026-11-20T08:00:00.000Z', 'file_0']);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ';
    for (let at = 0; at < cursor.length; at += 1) {
      for (const other of alphabet) {
        if (other === cursor[at]) continue;
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        expect(() => parseCursor(keys, scope, changed)).toThrow(refused);
      }
    }
  });

  it('reject any flipped bit', () => {
    const bytes = Buffer.from(printCursor(keys, scope, ['a', 'b']), 'base64url');
    for (let at = 0; at < bytes.length * 8; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
      expect(() => parseCursor(keys, scope, flipped.toString('base64url'))).toThrow(refused);
    }
  });

  it('reject another route, project, sort, filter or key', () => {
    const cursor = printCursor(keys, scope, ['a']);
    for (const field of ['route', 'project_id', 'sort', 'filters'] as const) {
      const other = { ...scope, [field]: `${scope[field]}x` };
      expect(() => parseCursor(keys, other, cursor)).toThrow(refused);
    }
    expect(() => parseCursor([Buffer.alloc(32, 8)], scope, cursor)).toThrow(refused);
  });

  it('are signed with the first key and accepted under any key of the list', () => {
    const newer = Buffer.alloc(32, 8);
    const cursor = printCursor([newer, key], scope, ['a']);
    expect(cursor).toBe(printCursor([newer], scope, ['a']));
    expect(parseCursor([key, newer], scope, cursor)).toEqual(['a']);
    expect(parseCursor([newer, key], scope, printCursor(keys, scope, ['a']))).toEqual(['a']);
    expect(() => parseCursor(keys, scope, cursor)).toThrow(refused);
    expect(() => printCursor([], scope, ['a'])).toThrow(TypeError);
  });

  it('do not confuse scopes that differ only in where one field ends and the next begins', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (sort, filters) => {
        const moved = { ...scope, sort: `${sort}x`, filters };
        const cursor = printCursor(keys, { ...scope, sort, filters: `x${filters}` }, ['a']);
        expect(() => parseCursor(keys, moved, cursor)).toThrow(refused);
      }),
    );
  });

  it('reject garbage, padding, truncation and a text that is too long', () => {
    const cursor = printCursor(keys, scope, ['a']);
    const wrong = [
      '',
      'x',
      `${cursor}=`,
      `${cursor}\n`,
      cursor.slice(1),
      cursor.slice(0, -1),
      '\0',
    ];
    for (const text of [...wrong, 'A'.repeat(CURSOR_LENGTH_MAX + 1)]) {
      expect(() => parseCursor(keys, scope, text)).toThrow(refused);
    }
  });

  it('may have exactly 4096 characters', () => {
    const longest = ['a'.repeat((CURSOR_LENGTH_MAX / 4) * 3 - 32 - '[""]'.length)];
    const cursor = printCursor(keys, scope, longest);
    expect(cursor).toHaveLength(4096);
    expect(parseCursor(keys, scope, cursor)).toEqual(longest);
    expect(() => printCursor(keys, scope, [`${longest[0]}a`])).toThrow(RangeError);
  });

  it('fit the longest keys of a list, and throw RangeError above 4096 characters', () => {
    const name = '😀'.repeat(255);
    expect(printCursor(keys, scope, [name, 'file_0']).length).toBeLessThanOrEqual(
      CURSOR_LENGTH_MAX,
    );
    expect(() => printCursor(keys, scope, ['a'.repeat(CURSOR_LENGTH_MAX)])).toThrow(RangeError);
  });
});
