// docs/asvs.md answers every requirement of levels 1 and 2 of OWASP ASVS 5.0.0, and its counts and lists agree with its rows.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variables } from '../../runtime/platform/config-variables.ts';
import { projectRoot, readPages, relativeLinksOf } from './documents.ts';

/** How many requirements of levels 1 and 2 each section has: in every section they are the first. */
const SECTIONS: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  1: { 1: 2, 2: 9, 3: 11, 4: 3, 5: 2 },
  2: { 1: 3, 2: 3, 3: 4, 4: 1 },
  3: { 2: 2, 3: 4, 4: 6, 5: 5, 7: 2 },
  4: { 1: 3, 2: 1, 3: 2, 4: 4 },
  5: { 1: 1, 2: 3, 3: 2, 4: 3 },
  6: { 1: 3, 2: 12, 3: 4, 4: 4, 5: 5, 6: 3, 8: 4 },
  7: { 1: 3, 2: 4, 3: 2, 4: 5, 5: 2, 6: 2 },
  8: { 1: 2, 2: 3, 3: 1, 4: 1 },
  9: { 1: 3, 2: 4 },
  10: { 1: 2, 2: 2, 3: 4, 4: 11, 5: 5, 6: 2, 7: 3 },
  11: { 1: 2, 2: 3, 3: 3, 4: 4, 5: 1, 6: 1 },
  12: { 1: 3, 2: 2, 3: 4 },
  13: { 1: 1, 2: 5, 3: 2, 4: 5 },
  14: { 1: 2, 2: 4, 3: 3 },
  15: { 1: 3, 2: 3, 3: 7 },
  16: { 1: 1, 2: 5, 3: 4, 4: 3, 5: 3 },
  17: { 1: 1, 2: 4, 3: 2 },
};

const ROW =
  /^\| (?<number>[\d.]+) \| [^|]*[^| ] \| \*\*(?<verdict>Met|Not applicable|Yours|Not met)\*\*: [^|]*[^| ] \| (?<shown>[^|]*)\|$/;

const pages = readPages();
const page = pages.get('docs/asvs.md') ?? '';
const lines = page.split('\n').filter((line) => /^\| \d/.test(line));
const rows = lines.map((line) => {
  const { number = '', verdict = '', shown = '' } = ROW.exec(line)?.groups ?? {};
  return { line, number, verdict, shown };
});
const numbersOf = (verdict: string) =>
  rows.filter((row) => row.verdict === verdict).map(({ number }) => number);

describe('docs/asvs.md', () => {
  it('has one row for each requirement, in order', () => {
    const wanted = Object.entries(SECTIONS).flatMap(([chapter, sections]) =>
      Object.entries(sections).flatMap(([section, count]) =>
        Array.from({ length: count }, (_, index) => `${chapter}.${section}.${index + 1}`),
      ),
    );
    expect(wanted).toHaveLength(253);
    expect(rows.map(({ number }) => number)).toEqual(wanted);
  });

  it('has each row below the heading of its chapter', () => {
    for (const { number } of rows) {
      const before = page.slice(0, page.indexOf(`\n| ${number} |`));
      expect(before.match(/^## V\d+/gm)?.at(-1)).toBe(`## V${number.split('.')[0]}`);
    }
  });

  it('shows how a requirement is met, or what there is instead, by existing files', () => {
    for (const { line, verdict, shown } of rows) {
      const links = relativeLinksOf(shown).map((link) => link.split('#')[0] ?? '');
      if (verdict === 'Met' || verdict === 'Not met') expect(links.length, line).toBeGreaterThan(0);
      const missing = links.filter((link) => !existsSync(join(projectRoot, 'docs', link)));
      expect(missing, line).toEqual([]);
    }
  });

  it('lists at its top exactly what is not met', () => {
    const [, list = ''] = /^## Not met\n(.*?)^## /ms.exec(page) ?? [];
    const listed = [...list.matchAll(/^- \*\*([\d.]+)\*\*(?: \(level 1\))?: \S/gm)].map(
      ([, number]) => number,
    );
    expect(listed).toEqual(numbersOf('Not met'));
  });

  it('has the counts of its rows, as docs/security.md does', () => {
    const counts = `${numbersOf('Met').length} met, ${numbersOf('Not applicable').length} not applicable, ${numbersOf('Yours').length} yours, ${numbersOf('Not met').length} not met`;
    expect(page).toContain(`: ${counts}.`);
    expect(pages.get('docs/security.md')).toContain(counts);
  });

  it('lists every key of the configuration', () => {
    const [, keys = ''] = /^## Keys\n(.*?)^## /ms.exec(page) ?? [];
    const secrets = Object.values(variables)
      .map(({ name }) => name)
      .filter((name) => /SECRET|KEYS?$|TOKEN/.test(name));
    expect(secrets.length).toBeGreaterThan(6);
    expect(secrets.filter((name) => !keys.includes(`\`${name}\``))).toEqual([]);
  });
});
