// Which alerts ring on what is measured, and which leave people in bed: promtool judges.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../house/source-files.ts';
import { judge } from './judge.ts';

type Series = Record<string, string>;

const file = readFileSync(join(projectRoot, 'config/prometheus/rules.yaml'), 'utf8');
const rules: { alert: string }[] = parse(file).spec.groups[0].rules;

const sample = (metric: string, labels: string) => `${metric}{namespace="images",${labels}}`;
const deliveries = (labels: string) => sample('tintype_delivery_request_seconds_count', labels);
const requests = (labels: string) => sample('tintype_api_request_seconds_count', labels);
const renders = (labels: string) => sample('tintype_render_seconds_count', labels);
const uploads = (labels: string) => sample('tintype_ingest_seconds_count', labels);

/** What takes up to a second, and what takes up to a quarter of a minute, so many of each a minute. */
const taking = (metric: string, labels: string, { short = 0, long = 0 }): Series =>
  Object.fromEntries(
    [
      ['1', short],
      ['5', short],
      ['15', short + long],
      ['+Inf', short + long],
    ].map(([le, count]) => [sample(`${metric}_bucket`, `${labels},le="${le}"`), `0+${count}x60`]),
  );
const API = 'tintype_api_request_seconds';
const DELIVERY = 'tintype_delivery_request_seconds';

/** What status-sampling asks for by itself, once a minute. */
const EACH_MINUTE = '0+1x60';
/** Four times within ten minutes, the last of them five minutes before the end. */
const NOW_AND_THEN = '0x45 1x2 2x2 3x2 4x8';
/** For as long as anybody asks, the last of them before the end. */
const LONG_NOW_AND_THEN = `0x30 ${Array.from({ length: 10 }, (_, times) => `${times + 1}x2`).join(' ')}`;

describe('a small installation', () => {
  it.each([
    [
      'TintypeDeliveryErrors',
      { [deliveries('status="404"')]: EACH_MINUTE, [deliveries('status="500"')]: NOW_AND_THEN },
    ],
    [
      'TintypeApiErrors',
      { [requests('status="200"')]: EACH_MINUTE, [requests('status="500"')]: NOW_AND_THEN },
    ],
    // Where nothing else is asked for, it is all that there is.
    ['TintypeDeliveryErrors', { [deliveries('status="500"')]: LONG_NOW_AND_THEN }],
    ['TintypeRendersFailing', { [renders('result="failed"')]: LONG_NOW_AND_THEN }],
    ['TintypeUploadsFailing', { [uploads('result="decode_failed"')]: '0x9 1x24 2x24 3' }],
  ])('does not call anybody for one picture: %s', (alert, series: Series) => {
    for (const time of ['52m', '54m', '56m', '58m'])
      expect(ringing(alert, series, time)).toBe(false);
  });

  it.each([
    ['TintypeDeliveryErrors', { [deliveries('status="503"')]: EACH_MINUTE }],
    ['TintypeApiErrors', { [requests('status="503"')]: EACH_MINUTE }],
    ['TintypeRendersFailing', { [renders('result="timeout"')]: EACH_MINUTE }],
    ['TintypeUploadsFailing', { [uploads('result="decode_failed"')]: '0x4 1+0.2x56' }],
  ])('that is down is noticed: %s', (alert, series: Series) => {
    expect(ringing(alert, series, '58m')).toBe(true);
  });
});

describe('a large installation', () => {
  it.each([
    ['TintypeDeliveryErrors', deliveries],
    ['TintypeApiErrors', requests],
  ])('calls somebody for a small share: %s', (alert, of) => {
    const series = { [of('status="200"')]: '0+960x60', [of('status="500"')]: '0+40x60' };
    expect(ringing(alert, series, '58m')).toBe(true);
  });
});

describe('what lasts as long as the line of its caller', () => {
  it.each([
    ['TintypeApiSlow', API, 'route="/v1/uploads/:id"', 'route="/v1/projects"'],
    ['TintypeDeliverySlow', DELIVERY, 'source="original"', 'source="render"'],
  ])('is not slow: %s', (alert, metric, callers, own) => {
    const short = taking(metric, own, { short: 96 });
    const long = (labels: string) => taking(metric, labels, { long: 4 });
    expect(ringing(alert, { ...short, ...long(callers) }, '58m')).toBe(false);
    const both = taking(metric, own, { short: 96, long: 4 });
    expect(ringing(alert, both, '58m')).toBe(true);
  });
});

it.each([
  ['once', '100x50 200x10', false],
  ['twice, as one that was known before', '100x50 200x2 300x8', true],
  ['twice, as one that was made then', '_x50 100x2 200x2 300x6', true],
])('a process that was started anew %s rings or not', (_, starts, rings) => {
  const series = { [sample('tintype_process_start_time_seconds', 'pod="api-0"')]: starts };
  expect(ringing('TintypeRestarting', series, '58m')).toBe(rings);
});

function ringing(alertname: string, series: Series, eval_time: string): boolean {
  const rule = rules.find(({ alert }) => alert === alertname);
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const alert_rule_test = [{ eval_time, alertname, exp_alerts: [] }];
  try {
    const test = { interval: '1m', input_series, alert_rule_test };
    judge({ groups: [{ name: 'tintype', rules: [rule] }] }, test);
    return false;
  } catch (error) {
    // Anything else that promtool says is no alert.
    expect(String(error)).toContain('got:[');
    return true;
  }
}
