import { describe, expect, it } from 'vitest';
import {
  listFilesQuery,
  parseBox,
  parseLibraryFilters,
  parseSearch,
  requireSubject,
} from '../../../../runtime/core/resources/file-query.ts';

const code = (code: string) => expect.objectContaining({ code, status: 400 });
const filters = (query: object) => parseLibraryFilters(listFilesQuery.parse(query));

describe('listFilesQuery', () => {
  it('has the defaults of the specification', () => {
    expect(listFilesQuery.parse({})).toEqual({ limit: 50, sort: 'uploaded', recursive: false });
    expect(listFilesQuery.parse({ limit: '100', has_location: 'false' })).toMatchObject({
      limit: 100,
      has_location: false,
    });
  });

  it.each([
    { limit: '0' },
    { limit: '101' },
    { limit: '1.5' },
    { limit: '' },
    { limit: ['1', '2'] },
    { status: 'gone' },
    { q: 'a\0' },
    { sort: 'size' },
    { recursive: 'yes' },
    { include: 'everything' },
    { cursor: ['a', 'b'] },
  ])('rejects %j', (query) => expect(listFilesQuery.safeParse(query).success).toBe(false));
});

describe('parseLibraryFilters', () => {
  it('requires a library for folder, search, location and sort filters', () => {
    for (const query of [{ folder: 'a' }, { folder: '' }, { recursive: 'true' }]) {
      expect(() => filters(query)).toThrow(code('folder_requires_library'));
    }
    const others = [
      { search: 'ab' },
      { has_location: 'false' },
      { bbox: '0,0,1,1' },
      { sort: 'name' },
      { sort: 'taken' },
    ];
    for (const query of others) {
      expect(() => filters(query)).toThrow(code('filter_requires_library'));
    }
    expect(filters({ status: 'ready', q: 'a', uploader: 'u', sort: 'uploaded' })).toEqual({});
  });

  it('normalizes folder, search and bbox', () => {
    expect(
      filters({ library: 'default', folder: '/a//b/', search: ' hi ', bbox: '170,-10,-170,10' }),
    ).toEqual({
      folder: 'a/b',
      search: 'hi',
      bbox: { west: 170, south: -10, east: -170, north: 10 },
    });
    expect(() => filters({ library: 'default', folder: '..' })).toThrow(code('invalid_folder'));
  });
});

describe('individual filters', () => {
  it.each(['', 'a', ' a ', 'a\0b'])('search %j is rejected with invalid_search', (text) =>
    expect(() => parseSearch(text)).toThrow(code('invalid_search')),
  );

  it('search needs two characters, not two UTF-16 units', () => {
    expect(parseSearch(' ab ')).toBe('ab');
    expect(() => parseSearch('😀')).toThrow(code('invalid_search'));
  });

  it.each([
    '',
    '1,2,3',
    '1,2,3,4,5',
    '0,1,0,0',
    '0,-91,0,0',
    '181,0,0,0',
    'a,b,c,d',
    '1,2,3,',
    ' 1,2,3,4',
    '1e1,0,0,0',
    '+1,0,0,0',
  ])('bbox %j is rejected with invalid_bbox', (text) =>
    expect(() => parseBox(text)).toThrow(code('invalid_bbox')),
  );

  it('bbox accepts degrees as JavaScript prints them', () => {
    const box = { west: 0.1 + 0.2, south: -1e-7, east: 2.3518753051757817, north: 48.9 };
    expect(parseBox(Object.values(box).join(','))).toEqual(box);
  });

  it('bbox may be a point or the whole world', () => {
    expect(parseBox('-180,-90,180,90')).toEqual({ west: -180, south: -90, east: 180, north: 90 });
    expect(parseBox('1.5,2.25,1.5,2.25')).toEqual({
      west: 1.5,
      south: 2.25,
      east: 1.5,
      north: 2.25,
    });
  });

  it('subject has 1 to 128 characters', () => {
    expect(requireSubject('😀'.repeat(128))).toHaveLength(256);
    for (const subject of ['', 'a'.repeat(129), 'a\nb', 'a\ud800']) {
      expect(() => requireSubject(subject)).toThrow(code('invalid_subject'));
    }
  });
});
