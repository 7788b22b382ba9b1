// Every fenced block of every document belongs to a claim whose test reads it from the document, and every claim has
// its blocks. Also checks the syntax of diagrams and JSON blocks.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import openapi from '../../runtime/api/openapi.json' with { type: 'json' };
import { type Fence, readFences } from '../contract/support/blocks.ts';
import { importsOf, projectRoot } from '../house/source-files.ts';
import { type Claim, claims } from './blocks.ts';
import { allMarkdown, listFiles } from './documents.ts';
import { faultsOf } from './mermaid.ts';

type Block = Fence & { page: string };

const HERE = 'test/docs/blocks.test.ts';
const pages = [...allMarkdown()];
const blocks = pages.flatMap(([page]) => readFences(page).map((fence) => ({ ...fence, page })));

const claimed = ({ page, language, under }: Claim) => {
  const [before = '', behind] = page.split('*');
  const isOf = (path: string) =>
    behind === undefined ? path === page : path.startsWith(before) && path.endsWith(behind);
  return blocks.filter(
    (block) =>
      isOf(block.page) && block.language === language && (under ?? block.heading) === block.heading,
  );
};
const named = ({ page, language, heading, text }: Block) =>
  `${page}, ${heading}: ${language} ${text.split('\n', 1)[0]}`;

describe('the code blocks of the documents', () => {
  it('are all found, however they are fenced', () => {
    expect(pages.length).toBeGreaterThan(200);
    expect(blocks.length).toBeGreaterThan(250);
    for (const [page, text] of pages) {
      const fences = text.match(/^[ >]*(?:```|~~~)/gm) ?? [];
      expect(fences, page).toHaveLength(2 * readFences(page).length);
      expect(text, page).not.toMatch(/^<pre\b/m);
    }
  });

  it('are covered by exactly one claim each', () => {
    const times = new Map<Block, number>();
    for (const block of claims.flatMap(claimed)) times.set(block, (times.get(block) ?? 0) + 1);
    const others = blocks.filter((block) => times.get(block) !== 1);
    expect(others.map(named)).toEqual([]);
  });

  it.each(claims)('$page has the number of $language blocks that is claimed: $blocks', (claim) => {
    expect(claimed(claim).map(named)).toHaveLength(claim.blocks);
  });

  it.each(claims.filter(({ by }) => !by.includes(HERE)))(
    '$page is read by the tests that are said to cover it: $how',
    ({ page, by }) => {
      for (const test of by) expect(readersOf(test), `${test} reads ${page}`).toContain(page);
    },
  );
});

/** Functions that read blocks of documents. */
const READS =
  /\b(?:readFences|readShellBlocks|readCommands|readStart|readChapters|readPage|runBlocks|writeExamples)\(/;
const read = new Map<string, readonly string[]>();

/**
 * Returns the documents named in the code of a test, or in test code that it imports, if that code
 * reads blocks.
 */
function readersOf(test: string): readonly string[] {
  const known = read.get(test);
  if (known !== undefined) return known;
  const files = new Set([test]);
  for (const file of files) {
    for (const { target } of importsOf(file)) {
      if (target.startsWith('test/') && existsSync(join(projectRoot, target))) files.add(target);
    }
  }
  const texts = [...files].map((file) => readFileSync(join(projectRoot, file), 'utf8'));
  const found = texts.filter((text) => READS.test(text)).flatMap(documentsIn);
  read.set(test, found);
  return found;
}

/** Only quoted names, because comments name documents without quotes. */
function documentsIn(text: string): string[] {
  return [...text.matchAll(/['/]([\w./-]*\.md)'/g)].map(([, path = '']) =>
    path.replace(/^[./]+/, ''),
  );
}

it('pictures are only in folders that a test checks: test/docs/transforms.test.ts, test/runtime/web/picker.test.ts', () => {
  const pictures = listFiles('docs').filter((path) =>
    /\.(?:avif|gif|jpe?g|png|svg|webp)$/.test(path),
  );
  expect(pictures.length).toBeGreaterThan(30);
  expect(pictures.filter((path) => !/^docs\/(?:pictures|picker)\//.test(path))).toEqual([]);
});

const claimedHere = (language: string) =>
  claims.filter((claim) => claim.by.includes(HERE) && claim.language === language).flatMap(claimed);

describe('the code blocks that this test covers', () => {
  it.each(claimedHere('mermaid'))('include a valid Mermaid diagram in $page', ({ text }) => {
    expect(faultsOf(text)).toEqual([]);
  });

  it('are reported for lines that Mermaid might not parse', () => {
    for (const line of ['a[x(y)] --> b', 'a --> end', 'a -- x; y --> b', 'a ---> b', 'a -->'])
      expect(faultsOf(`flowchart LR\n  ${line}`)).toEqual([`  ${line}`]);
    expect(faultsOf('pie\n  "a" : 1')).toEqual(['pie']);
  });

  it('are the same in the chart’s README and its source page', () => {
    const texts = (page: string) => readFences(page).map(({ text }) => text);
    const [source, made] = [
      'config/generate/manifests/chart-readme.md',
      'charts/tintype/README.md',
    ];
    expect(texts(source)).toEqual(texts(made));
  });

  describe('an example response', () => {
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, date: true } });
    const { Error: envelope, Upload: upload } = openapi.components.schemas;
    const isRefusal = ajv.compile(envelope);
    const fields: Record<string, unknown> = upload.properties;

    it.each(claimedHere('json'))('in $page matches the OpenAPI document', ({ page, text }) => {
      const answer = JSON.parse(text);
      const code = answer.error?.code ?? answer.error_code;
      if (page.startsWith('docs/errors/')) expect(code).toBe(basename(page, '.md'));
      if ('error' in answer) expect(isRefusal(answer), ajv.errorsText(isRefusal.errors)).toBe(true);
      // A part of the upload's fields.
      else for (const [name, value] of Object.entries(answer)) expectValid(fields[name], value);
    });

    function expectValid(schema: unknown, value: unknown): void {
      expect(schema).toBeTypeOf('object');
      expect(ajv.validate(schema as object, value), ajv.errorsText()).toBe(true);
    }
  });
});
