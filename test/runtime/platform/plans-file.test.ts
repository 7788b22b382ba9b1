// Spec: Limits, Metering (plan credit and storage allowances are the deployment's).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultPlans } from '../../../runtime/core/plans.ts';
import { readPlans } from '../../../runtime/platform/plans-file.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tintype-plans-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string, products: Record<string, string> = {}) {
  const plans = join(folder, 'plans.yaml');
  writeFileSync(plans, text);
  return readPlans({ plans, providerAPlans: {}, providerBPlans: products });
}

const TRIAL = 'trial: { credits: 10, granted: once, storage_bytes: 1000 }';

it('readPlans returns exactly the plans of the file', () => {
  const starter = 'starter:\n  credits: 5\n  granted: monthly\n  storage_bytes: 7\n  projects: 3\n';
  const price = '  price: { amount: 1900, currency: EUR }\n';
  expect(read(`${TRIAL}\n${starter}${price}`, { prod_1: 'starter' })).toEqual({
    trial: { credits: 10, granted: 'once', storage_bytes: 1000 },
    starter: {
      credits: 5,
      granted: 'monthly',
      storage_bytes: 7,
      projects: 3,
      price: { amount: 1900, currency: 'EUR' },
    },
  });
});

it('readPlans returns the default plans without a file', () => {
  const none = { plans: undefined, providerAPlans: {}, providerBPlans: {} };
  expect(readPlans(none)).toEqual(defaultPlans);
});

it('readPlans rejects an invalid file and lists all of its problems', () => {
  const wrong: [string, RegExp][] = [
    ['', /the file: expected plans by name/],
    ['- a', /the file: expected plans by name/],
    ['a: [', /expected a YAML file of plans/],
    ['starter: { credits: 5, granted: once, storage_bytes: 1 }', /expected a plan called trial/],
    [`${TRIAL}\nBig: {}`, /Big: expected a name of lower-case letters/],
    [
      `${TRIAL}\nbig: { credits: 0, granted: weekly, storage: 1 }`,
      /big\.credits: .*at least 1; big\.granted: .*once or monthly; .*unknown field/,
    ],
    [`${TRIAL.replace('1000', '1GiB')}`, /trial\.storage_bytes: expected a whole number of bytes/],
  ];
  for (const [text, says] of wrong) expect(() => read(text), text).toThrow(says);
  const none = { plans: join(folder, 'none'), providerAPlans: {}, providerBPlans: {} };
  expect(() => readPlans(none)).toThrow(/expected a YAML file of plans \(ENOENT/);
});

it('readPlans rejects a product that buys an unknown plan', () => {
  expect(() => read(TRIAL, { prod_1: 'starter' })).toThrow(
    'TINTYPE_PROVIDER_B_PLANS: prod_1 buys starter, which is not a plan: name one of trial',
  );
});
