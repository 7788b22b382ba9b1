import { describe, expect, it } from 'vitest';
import {
  moderationNoteBody,
  moveFilesBody,
  patchFileBody,
} from '../../../../runtime/core/resources/file.ts';

describe('patchFileBody', () => {
  it('cleans texts, clears them with an empty string or null, and keeps omitted fields omitted', () => {
    expect(patchFileBody.parse({ title: ' \u202eA\nB ', alt_text: '' })).toEqual({
      title: 'AB',
      alt_text: null,
    });
    expect(patchFileBody.parse({ title: null })).toEqual({ title: null });
    expect(patchFileBody.parse({})).toEqual({});
  });

  it('cuts a title at 200 characters and an alt text at 1000', () => {
    const parsed = patchFileBody.parse({ title: '😀'.repeat(300), alt_text: 'é'.repeat(1001) });
    expect(parsed).toEqual({ title: '😀'.repeat(200), alt_text: 'é'.repeat(1000) });
  });
});

describe('moveFilesBody', () => {
  it('drops duplicate slugs, including those that differ only in case', () => {
    const parsed = moveFilesBody.parse({ file_slugs: ['a', 'A', 'b'], folder: '' });
    expect(parsed).toEqual({ file_slugs: ['a', 'b'], folder: '' });
  });

  it('accepts 1 to 1000 slugs', () => {
    const slugs = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`);
    const isTaken = (count: number) =>
      moveFilesBody.safeParse({ file_slugs: slugs(count), folder: 'a' }).success;
    expect([0, 1, 1000, 1001].map(isTaken)).toEqual([false, true, true, false]);
    expect(moveFilesBody.safeParse({ file_slugs: ['a'] }).success).toBe(false);
  });
});

describe('moderationNoteBody', () => {
  it('requires exactly one of note and body', () => {
    expect(moderationNoteBody.parse({ note: 'x' })).toEqual({ note: 'x' });
    expect(moderationNoteBody.parse({ body: 'x' })).toEqual({ note: 'x' });
    for (const wrong of [{}, { note: 'x', body: 'x' }, { note: '' }, { note: 7 }]) {
      expect(moderationNoteBody.safeParse(wrong).success).toBe(false);
    }
  });
});
