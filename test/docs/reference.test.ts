/** The documents are consistent: comments cite existing headings, links lead somewhere, and every term is described. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKubeMetrics } from '../../operator/kube/metrics.ts';
import { browserClientErrors } from '../../runtime/core/browser-client-errors.ts';
import {
  apiErrors,
  deliveryErrors,
  helperErrors,
  processingErrors,
  verifierReasons,
} from '../../runtime/core/errors.ts';
import * as limits from '../../runtime/core/limits.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';
import {
  allMarkdown,
  anchorOf,
  headingsOf,
  listFiles,
  parseCitation,
  projectRoot,
  readCitations,
  readPages,
  relativeLinksOf,
} from './documents.ts';

const pages = readPages();
/** Leaves out the sources of generated pages, whose links are relative to the generated page. */
const linking = new Map(
  [...allMarkdown()].filter(([path]) => !path.startsWith('config/generate/')),
);
const reference = [...pages].filter(([path]) => path.startsWith('docs/reference/'));
const referenceText = reference.map(([, text]) => text).join('\n');
/** The headings of each reference page, in the form in which citations are compared. */
const referenceHeadings = reference.map(
  ([, text]) => new Set(headingsOf(text).map((title) => plain(title))),
);

describe('citations in comments', () => {
  const citations = readCitations(['runtime', 'operator', 'test']).filter(
    ({ file }) => !file.startsWith('test/docs/'),
  );

  it('are found and parsed', () => {
    expect(citations.length).toBeGreaterThan(100);
    expect(
      parseCitation('Limits, Uploads (pixel limits); Output rules 1 to 4, some words. More'),
    ).toEqual([['Limits', 'Uploads'], ['Output rules']]);
  });

  it('name existing headings of one page of the reference', () => {
    const isKnown = (path: string[]) =>
      referenceHeadings.some((page) => path.every((name) => page.has(plain(name))));
    const unknown = citations.flatMap(({ file, names }) =>
      names.filter((path) => !isKnown(path)).map((path) => `${file}: ${path.join(', ')}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('links between documents', () => {
  it.each([...linking.keys()])('of %s lead to existing files and headings', (path) => {
    const broken = relativeLinksOf(linking.get(path) ?? '').filter((link) => !resolves(path, link));
    expect(broken).toEqual([]);
  });
});

describe('the map in docs/README.md', () => {
  const MAP = 'docs/README.md';
  const targetsOf = (from: string) =>
    relativeLinksOf(linking.get(from) ?? '').map((link) =>
      normalize(join(dirname(from), link.split('#')[0] ?? '')),
    );
  const named = targetsOf(MAP);

  it('leads to every page, directly or by the list of its folder', () => {
    const lists = named.filter((path) => path.endsWith('/README.md'));
    const led = new Set([MAP, ...named, ...lists.flatMap(targetsOf)]);
    const wanted = [...linking.keys()].filter((path) => !path.startsWith('test/'));
    expect(wanted.length).toBeGreaterThan(200);
    expect(wanted.filter((path) => !led.has(path))).toEqual([]);
  });

  it('names every document in the root folder', () => {
    const own = [...linking.keys()].filter((path) => /^[A-Z]+\.md$/.test(path));
    expect(own).toContain('SECURITY.md');
    expect(own.filter((path) => !named.includes(path))).toEqual([]);
  });

  it('leaves no file in docs that is neither linked nor named by a page', () => {
    const shown = new Set([...linking.keys()].flatMap(targetsOf));
    const all = [...linking.values()].join('\n');
    const others = listFiles('docs').filter((path) => !path.endsWith('.md') && !shown.has(path));
    expect(others.filter((path) => !all.includes(path))).toEqual([]);
  });
});

describe('the reference', () => {
  const words = {
    'error code': [
      apiErrors,
      deliveryErrors,
      processingErrors,
      helperErrors,
      browserClientErrors,
      verifierReasons,
    ].flatMap((table) => Object.keys(table)),
    limit: Object.keys(limits),
  };

  it.each(Object.entries(words))('describes every %s', (_kind, names) => {
    expect(names.filter((name) => !referenceText.includes(`\`${name}\``))).toEqual([]);
  });
});

it('the metrics page lists exactly the metrics that the processes and the operator export', async () => {
  const { text } = await createMetrics().print();
  const printed = `${text}\n${await createKubeMetrics().print()}`;
  const page = pages.get('docs/reference/metrics.md') ?? '';
  const found = (of: string, metric: RegExp) =>
    [...of.matchAll(metric)].map(([, name, kind]) => `${name} ${kind}`).sort();
  expect(found(page, /^\| `(\w+)` \| (\w+) \|/gm)).toEqual(found(printed, /^# TYPE (\S+) (\S+)/gm));
});

/** Ignores case and parentheses. */
function plain(heading: string): string {
  return heading
    .replaceAll(/\([^()]*\)/g, '')
    .trim()
    .toLowerCase();
}

function resolves(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(join(projectRoot, target))) return false;
  if (anchor === undefined) return true;
  return headingsOf(linking.get(target) ?? '').some((heading) => anchorOf(heading) === anchor);
}
