// Specs that the API server accepted before a rule existed.
import { expect, it } from 'vitest';
import { readSpec } from '../../../operator/image-service/read-spec.ts';
import { least } from './samples.ts';

const good = 'https://app.example';
const message = 'an origin such as https://api.example.com, without a path';

it('readSpec leaves out an invalid page origin and names its place', () => {
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

it('readSpec leaves out a duplicate origin', () => {
  const { spec, wrong } = readSpec({ ...least, dashboardOrigins: [good, good] });
  expect(spec?.dashboardOrigins).toEqual([good]);
  expect(wrong).toContain('`spec.dashboardOrigins[1]`');
});

it.each([
  ['anything else is wrong', { baseURL: 'no origin', dashboardOrigins: ['no origin'] }],
  ['the list is not a list', { dashboardOrigins: 'https://app.example' }],
  [
    'there are too many',
    { dashboardOrigins: Array.from({ length: 65 }, (_, n) => `https://a${n}.b`) },
  ],
])('readSpec returns no spec if %s', (_what, more) => {
  const { spec, wrong } = readSpec({ ...least, ...more });
  expect(spec).toBeUndefined();
  expect(wrong).not.toContain('left out');
});

it('readSpec returns a valid spec without a message', () => {
  expect(readSpec(least)).toEqual({ spec: least, wrong: undefined });
});
