// What the API server took before a rule was there.
import { expect, it } from 'vitest';
import { readSpec } from '../../../operator/image-service/read-spec.ts';
import { least } from './samples.ts';

const good = 'https://app.example';
const message = 'an origin such as https://api.example.com, without a path';

it('leaves out an origin of pages that is none, and names its place', () => {
  const stored = {
    ...least,
    dashboardOrigins: [good, 'https://app.example/', 'https://other.example'],
    marketingOrigins: ['no origin'],
  };
  const { spec, wrong } = readSpec(stored);
  expect(spec).toEqual({
    ...least,
    dashboardOrigins: [good, 'https://other.example'],
    marketingOrigins: [],
  });
  expect(wrong).toBe(
    `\`spec.dashboardOrigins[1]\`: ${message}; \`spec.marketingOrigins[0]\`: ${message}; that is left out until it is corrected, and all else is done as declared`,
  );
});

it('leaves out what was named twice', () => {
  const { spec, wrong } = readSpec({ ...least, dashboardOrigins: [good, good] });
  expect(spec?.dashboardOrigins).toEqual([good]);
  expect(wrong).toContain('`spec.dashboardOrigins[1]`');
});

it.each([
  ['anything else is wrong', { baseURL: 'no origin', dashboardOrigins: ['no origin'] }],
  ['the list is none', { dashboardOrigins: 'https://app.example' }],
  [
    'there are too many',
    { dashboardOrigins: Array.from({ length: 65 }, (_, n) => `https://a${n}.b`) },
  ],
])('reads nothing where %s', (_what, more) => {
  const { spec, wrong } = readSpec({ ...least, ...more });
  expect(spec).toBeUndefined();
  expect(wrong).not.toContain('left out');
});

it('says nothing of what is as it should be', () => {
  expect(readSpec(least)).toEqual({ spec: least, wrong: undefined });
});
