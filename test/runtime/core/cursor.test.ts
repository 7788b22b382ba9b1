import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorScope, parseCursor, printCursor } from '../../../runtime/core/cursor.ts';
import { CURSOR_LENGTH_MAX } from '../../../runtime/core/limits.ts';

const key = Buffer.alloc(32, 7);
const scope: CursorScope = {
  route: 'GET /files',
  project_id: 'prj_1',
  sort: 'uploaded',
  filters: '',
};
const position = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 4 });
const refused = expect.objectContaining({ code: 'invalid_cursor', status: 400 });

describe('cursors', () => {
  it('give back the keys that were printed', () => {
    fc.assert(
      fc.property(position, (keys) => {
        const wellFormed = keys.map((text) => text.toWellFormed());
        expect(parseCursor(key, scope, printCursor(key, scope, wellFormed))).toEqual(wellFormed);
      }),
    );
  });

  it('refuse every changed character', () => {
    const cursor = printCursor(key, scope, ['2026-11-20T08:00:00.000Z', 'file_0']);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. ';
    for (let at = 0; at < cursor.length; at += 1) {
      for (const other of alphabet) {
        if (other === cursor[at]) continue;
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        expect(() => parseCursor(key, scope, changed)).toThrow(refused);
      }
    }
  });

  it('refuse every flipped byte', () => {
    const bytes = Buffer.from(printCursor(key, scope, ['a', 'b']), 'base64url');
    for (let at = 0; at < bytes.length * 8; at += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
      expect(() => parseCursor(key, scope, flipped.toString('base64url'))).toThrow(refused);
    }
  });

  it('refuse every other scope and key', () => {
    const cursor = printCursor(key, scope, ['a']);
    for (const field of ['route', 'project_id', 'sort', 'filters'] as const) {
      const other = { ...scope, [field]: `${scope[field]}x` };
      expect(() => parseCursor(key, other, cursor)).toThrow(refused);
    }
    expect(() => parseCursor(Buffer.alloc(32, 8), scope, cursor)).toThrow(refused);
  });

  it('never let a field of the scope flow into the next', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (sort, filters) => {
        const moved = { ...scope, sort: `${sort}x`, filters };
        const cursor = printCursor(key, { ...scope, sort, filters: `x${filters}` }, ['a']);
        expect(() => parseCursor(key, moved, cursor)).toThrow(refused);
      }),
    );
  });

  it('refuse rubbish, padding, truncation and what is too long', () => {
    const cursor = printCursor(key, scope, ['a']);
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
      expect(() => parseCursor(key, scope, text)).toThrow(refused);
    }
  });

  it('may have exactly 4096 characters', () => {
    const keys = ['a'.repeat((CURSOR_LENGTH_MAX / 4) * 3 - 32 - '[""]'.length)];
    const cursor = printCursor(key, scope, keys);
    expect(cursor).toHaveLength(4096);
    expect(parseCursor(key, scope, cursor)).toEqual(keys);
    expect(() => printCursor(key, scope, [`${keys[0]}a`])).toThrow(RangeError);
  });

  it('fit the longest keys of a list, and no more than 4096 characters', () => {
    const name = '😀'.repeat(255);
    expect(printCursor(key, scope, [name, 'file_0']).length).toBeLessThanOrEqual(CURSOR_LENGTH_MAX);
    expect(() => printCursor(key, scope, ['a'.repeat(CURSOR_LENGTH_MAX)])).toThrow(RangeError);
  });
});
