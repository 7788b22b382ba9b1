// One word for one thing: texts for people do not use another word for what these name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles, projectRoot, readPages } from './documents.ts';

/** By the word to use instead. */
const others: Readonly<Record<string, RegExp>> = {
  // As the states are spelled.
  canceled: /\bcancelled\b/gi,
  canceling: /(?<!already_)\bcancelling\b/gi,
  'the people who run the installation':
    /\boperators? of (?:the|an|your) installation\b|\b[Ff]or operators\b|\bOperators:|\badministrators?\b/g,
  summed: /\brolled up\b|\brolls (?:\w+ )?up\b/gi,
};
/** What is on call: alerts, dashboards, and the pages that alerts link to. */
const onCall: Readonly<Record<string, RegExp>> = {
  image: /\b(?:picture|photograph)s?\b/gi,
  check: /\bfail(?:s|ed) (?:its|their)(?: last)? test\b/gi,
};

/** What people on call read besides. */
const runbook: Readonly<Record<string, RegExp>> = {
  away: /\b(?:is|are|was|were) (?:down|unavailable)\b/gi,
};

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const texts = (paths: readonly string[]) => paths.map((path) => [path, read(path)] as const);
const sources = texts([...['runtime', 'operator', 'config/generate'].flatMap(listFiles)]).filter(
  ([path]) => /\.(?:ts|md)$/.test(path),
);
const alerts = texts(['config/prometheus/rules.yaml', 'config/grafana/tintype.json']);

it.each(Object.entries(others))('%s is the only word for it', (_, wrong) => {
  expect(foundIn([...readPages(), ...sources, ...alerts], wrong)).toEqual([]);
});

it.each(Object.entries(onCall))('%s is the only word for it in alerts', (_, wrong) => {
  expect(foundIn(alerts, wrong)).toEqual([]);
});

it.each(Object.entries(runbook))('%s is the only word for it on call', (_, wrong) => {
  const pages = [...readPages()].filter(([path]) => /runbook|on-call/.test(path));
  expect(pages.length).toBeGreaterThan(20);
  expect(foundIn([...alerts, ...pages], wrong)).toEqual([]);
});

function foundIn(pages: readonly (readonly [path: string, text: string])[], wrong: RegExp) {
  return pages.flatMap(([path, text]) => (text.match(wrong) ?? []).map((word) => [path, word]));
}
