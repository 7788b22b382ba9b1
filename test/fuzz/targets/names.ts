/** Names, addresses and times as people write them, and the cursors of lists. */
import assert from 'node:assert/strict';
import { networkOf } from '../../../runtime/api/client-network.ts';
import { requireMatch } from '../../../runtime/api/entity-tag.ts';
import { nameFiles, slugFromName } from '../../../runtime/cli/file-slugs.ts';
import { parseCursor, printCursor } from '../../../runtime/core/cursor.ts';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { parseFolder } from '../../../runtime/core/folder.ts';
import { parseDay, parseInstant } from '../../../runtime/core/instant.ts';
import { parseBox, parseSearch } from '../../../runtime/core/resources/file-query.ts';
import {
  CORS_ORIGIN_PATTERN,
  parseCallbackUrl,
  parseCorsOrigin,
  parseEmbedOrigin,
  parseHostname,
} from '../../../runtime/core/resources/web-address.ts';
import {
  parseFileSlug,
  parseLibraryName,
  parseLibrarySlug,
  parseProjectSlug,
} from '../../../runtime/core/slug.ts';
import { cleanText, countCharacters, isStorable, stripText } from '../../../runtime/core/text.ts';
import { isPublicAddress } from '../../../runtime/platform/egress.ts';
import { refusals, type Target, text } from '../target.ts';

/**
 * Runs several parsers on the same text. Each must accept its own result and return it unchanged.
 */
function stable(input: string, parsers: readonly ((text: string) => string | undefined)[]) {
  const read = parsers.map((parse) => {
    const found = parse(input);
    if (found !== undefined) assert.equal(parse(found), found, parse.name);
    return found;
  });
  return read.every((found) => found === undefined) ? undefined : read;
}

const SLUG = /^[a-z0-9][a-z0-9._-]{0,127}$/;

const slugs = text({
  name: 'slugs',
  seeds: () => [
    'shop',
    'Photo-1.JPG',
    'a_b.c',
    ' Team-Library ',
    'default',
    '\u212aelvin',
    'a'.repeat(129),
  ],
  run(input) {
    const parsers = [parseFileSlug, parseProjectSlug, parseLibrarySlug, parseLibraryName];
    const read = stable(input, parsers);
    for (const slug of read ?? []) assert.match(slug ?? 'a', SLUG);
    return read;
  },
});

const fileNames = text({
  name: 'names-of-files',
  seeds: () => ['Holiday Photo (1).JPG', 'straße.png', '日本.webp', '.hidden', 'a/b/ﬁx.tar.gz'],
  run(input) {
    const slug = slugFromName(input);
    if (slug !== undefined) assert.match(slug, SLUG);
    const named = nameFiles([input, `b/${input}`, `c/${input}`]).flatMap(
      ({ slug: each }) => each ?? [],
    );
    assert.equal(new Set(named).size, named.length, 'two files under one slug');
    return slug;
  },
});

const folders = text({
  name: 'folders',
  seeds: () => [
    'Summer/2026',
    ' a / b //c/',
    'e\u0301t\u00e9/\u212b',
    'a/../b',
    'a/b/c/d/e/f/g/h/i/j/k',
  ],
  run: (input) => stable(input, [parseFolder]),
});

const texts = text({
  name: 'texts-of-people',
  seeds: () => [
    'A title',
    ' \u202eabc\u0000 ',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} family',
    'a\u0301'.repeat(20),
  ],
  run(input) {
    for (const max of [1, 12, 300]) {
      const clean = cleanText(input, max);
      if (clean === null) continue;
      assert.ok(countCharacters(clean) <= max && isStorable(clean));
      assert.equal(stripText(clean), clean);
      assert.equal(cleanText(clean, max), clean);
    }
    return cleanText(input, 300) ?? undefined;
  },
});

const origins = text({
  name: 'origins-and-urls',
  seeds: () => [
    'https://shop.example',
    'http://localhost:3000',
    'http://127.0.0.1:80',
    'https://[2001:db8::1]:8443',
    'https://xn--bcher-kva.example/hook?a=b',
    'https://user@evil.example/#x',
    '*',
    'a-b.example.com',
  ],
  run(input) {
    const read = stable(input, [
      parseCorsOrigin,
      parseEmbedOrigin,
      parseHostname,
      parseCallbackUrl,
    ]);
    const [cors, embed, , callback] = read ?? [];
    if (cors !== undefined) assert.match(cors, CORS_ORIGIN_PATTERN);
    if (embed?.startsWith('https:')) assert.equal(new URL(embed).origin, embed);
    if (callback !== undefined) {
      const { username, password, hash, protocol } = new URL(callback);
      assert.deepEqual([username, password, hash], ['', '', '']);
      assert.match(protocol, /^https?:$/);
    }
    return read;
  },
});

const addresses = text({
  name: 'addresses',
  seeds: () => [
    '10.0.0.1',
    '::ffff:127.0.0.1',
    '2001:db8:1:2:3:4:5:6',
    '0x7f.1',
    'fe80::1%eth0',
    '64:ff9b::a00:1',
  ],
  run(input) {
    const network = networkOf(input);
    const isPublic = isPublicAddress(input);
    if (network === 'unknown') {
      assert.equal(isPublic, false);
      return undefined;
    }
    assert.equal(networkOf(network), network);
    return { network, isPublic };
  },
});

const times = text({
  name: 'times',
  seeds: () => [
    '2026-11-20T08:00:00Z',
    '2024-02-29',
    '2026-11-20T08:00+05:45',
    '9998-12-31T23:59:59.999Z',
  ],
  run(input) {
    const read = parseInstant(input) ?? parseDay(input);
    if (read === undefined) return undefined;
    assert.equal(parseInstant(read.toISOString())?.getTime(), read.getTime());
    return read.getTime();
  },
});

const filters = text({
  name: 'boxes-and-searches',
  seeds: () => ['13.1,52.3,13.8,52.7', '179,-10,-179,10', '-180,-90,180,90', 'cats  '],
  run(input) {
    const isBox = input.includes(',');
    if (!isBox) return parseSearch(input);
    const { west, south, east, north } = parseBox(input);
    assert.ok(Math.abs(west) <= 180 && Math.abs(east) <= 180 && south <= north && north <= 90);
    return 'box';
  },
  refuses: refusals(ServiceError, 'invalid_bbox', 'invalid_search'),
});

const KEYS = [Buffer.alloc(32, 7)];
const SCOPE = { route: '/v1/projects', project_id: 'prj_1', sort: 'newest', filters: '' };
const printed = [['2026-11-20', 'upl_1'], [], ['é\u0000', '"']].map((position) =>
  printCursor(KEYS, SCOPE, position),
);

const cursors = text({
  name: 'cursors',
  seeds: () => printed,
  run(input) {
    const position = parseCursor(KEYS, SCOPE, input);
    assert.ok(printed.includes(input), 'a cursor that was never printed');
    return position;
  },
  refuses: refusals(ServiceError, 'invalid_cursor'),
});

const ifMatch = text({
  name: 'if-match',
  seeds: () => ['"abc"', '"x", "abc"', '*', 'W/"abc"'],
  run(input) {
    requireMatch(input, '"abc"');
    assert.ok(input.includes('"abc"') || input.includes('*'));
    return true;
  },
  refuses: refusals(ServiceError, 'precondition_failed'),
});

export const nameTargets: readonly Target[] = [
  slugs,
  fileNames,
  folders,
  texts,
  origins,
  addresses,
  times,
  filters,
  cursors,
  ifMatch,
];
