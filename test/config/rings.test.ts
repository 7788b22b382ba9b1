// Which alerts fire for given metrics and which do not, as evaluated by promtool.
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

/**
 * Histogram buckets for requests that take up to a second (`short`) and up to 15 seconds (`long`),
 * as counts per minute.
 */
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

/** The requests of the status-sampling job, one per minute. */
const EACH_MINUTE = '0+1x60';
/** A counter that increases four times, from minute 46 to minute 55. */
const NOW_AND_THEN = '0x45 1x2 2x2 3x2 4x8';
/** A counter that increases every three minutes, ten times until minute 58. */
const LONG_NOW_AND_THEN = `0x30 ${Array.from({ length: 10 }, (_, times) => `${times + 1}x2`).join(' ')}`;

describe('alerts in a small installation', () => {
  it.each([
    [
      'TintypeDeliveryErrors',
      { [deliveries('status="404"')]: EACH_MINUTE, [deliveries('status="500"')]: NOW_AND_THEN },
    ],
    [
      'TintypeApiErrors',
      { [requests('status="200"')]: EACH_MINUTE, [requests('status="500"')]: NOW_AND_THEN },
    ],
    // Without other requests, errors are all that happens.
    ['TintypeDeliveryErrors', { [deliveries('status="500"')]: LONG_NOW_AND_THEN }],
    ['TintypeRendersFailing', { [renders('result="failed"')]: LONG_NOW_AND_THEN }],
    ['TintypeUploadsFailing', { [uploads('result="decode_failed"')]: '0x9 1x24 2x24 3' }],
  ])('do not fire for a single picture: %s', (alert, series: Series) => {
    for (const time of ['52m', '54m', '56m', '58m'])
      expect(ringing(alert, series, time)).toBe(false);
  });

  it.each([
    ['TintypeDeliveryErrors', { [deliveries('status="503"')]: EACH_MINUTE }],
    ['TintypeApiErrors', { [requests('status="503"')]: EACH_MINUTE }],
    ['TintypeRendersFailing', { [renders('result="timeout"')]: EACH_MINUTE }],
    ['TintypeUploadsFailing', { [uploads('result="decode_failed"')]: '0x4 1+0.2x56' }],
  ])('fire if the service is down: %s', (alert, series: Series) => {
    expect(ringing(alert, series, '58m')).toBe(true);
  });
});

describe('alerts in a large installation', () => {
  it.each([
    ['TintypeDeliveryErrors', deliveries],
    ['TintypeApiErrors', requests],
  ])('fire for a small share of errors: %s', (alert, of) => {
    const series = { [of('status="200"')]: '0+960x60', [of('status="500"')]: '0+40x60' };
    expect(ringing(alert, series, '58m')).toBe(true);
  });
});

describe('requests that take as long as their caller’s connection', () => {
  it.each([
    ['TintypeApiSlow', API, 'route="/v1/uploads/:id"', 'route="/v1/projects"'],
    ['TintypeDeliverySlow', DELIVERY, 'source="original"', 'source="render"'],
  ])('do not trigger the alert about slow requests: %s', (alert, metric, callers, own) => {
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
])(
  'TintypeRestarting fires only for repeated starts: a process was started %s',
  (_, starts, rings) => {
    const series = { [sample('tintype_process_start_time_seconds', 'pod="api-0"')]: starts };
    expect(ringing('TintypeRestarting', series, '58m')).toBe(rings);
  },
);

function ringing(alertname: string, series: Series, eval_time: string): boolean {
  const rule = rules.find(({ alert }) => alert === alertname);
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const alert_rule_test = [{ eval_time, alertname, exp_alerts: [] }];
  try {
    const test = { interval: '1m', input_series, alert_rule_test };
    judge({ groups: [{ name: 'tintype', rules: [rule] }] }, test);
    return false;
  } catch (error) {
    // Fails for any other error of promtool.
    expect(String(error)).toContain('got:[');
    return true;
  }
}
