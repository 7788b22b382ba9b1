import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../house/source-files.ts';
import { judge } from './judge.ts';
import { expectGrouped, expectMeasured, findMetric, nodes, POD_LABELS } from './promql.ts';

type Rule = {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
};

const rules: Rule[] = parse(read('config/prometheus/rules.yaml')).spec.groups[0].rules;
const pages = readdirSync(join(projectRoot, 'docs/runbook')).filter((name) => name !== 'README.md');

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

describe('the alerts', () => {
  it.each(rules)('$alert queries existing metrics, in valid PromQL', ({ expr }) => {
    expect(nodes(expr, 'VectorSelector').length).toBeGreaterThan(0);
    expectMeasured(expr);
    expectGrouped(expr);
  });

  it.each(rules)(
    '$alert has a severity and a summary, and mentions only labels that its series keep',
    (rule) => {
      expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
      expect(rule.for).toMatch(/^\d+m$/);
      expect(rule.annotations.summary).toMatch(/^[A-Z].*\.$/);
      const spoken = [...rule.annotations.description.matchAll(/\$labels\.(\w+)/g)].map(
        ([, name]) => name,
      );
      const grouped = nodes(rule.expr, 'GroupingLabels').flatMap((each) =>
        nodes(`sum by ${each} (a)`, 'LabelName'),
      );
      const kept = grouped.length > 0 ? grouped : POD_LABELS;
      expect(kept).toEqual(expect.arrayContaining(spoken));
    },
  );

  it('have unique names and exactly one runbook page each', () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    // The website has the pages under the same paths as the repository.
    const linked = rules.map(({ annotations }) => new URL(annotations.runbook_url).pathname);
    expect(linked.sort()).toEqual(pages.map((page) => `/docs/runbook/${page}`).sort());
    const list = read('docs/runbook/README.md');
    for (const name of names) expect(list).toContain(`[${name}]`);
    for (const { annotations } of rules)
      expect(list).toContain(`\`${new URL('.', annotations.runbook_url).href.slice(0, -1)}\``);
  });
});

describe('TintypeOperatorWithoutLeader', () => {
  const pod = (name: string) =>
    `leader_election_master_status{name="tintype-operator",namespace="tintype-system",pod="${name}"}`;
  const rung = [{ exp_labels: { severity: 'critical', namespace: 'tintype-system' } }];

  it.each([
    ['one pod leads', { a: '0x10', b: '1x10' }, []],
    ['no pod leads', { a: '0x10', b: '0x10' }, rung],
    ['the pods went', { a: '0x4 stale', b: '1x4 stale' }, rung],
    ['the last pod went, having let go of its Lease', { a: '1x6 0 stale' }, rung],
    ['there never was one', {}, rung],
  ] as [string, Record<string, string>, { exp_labels: object }[]][])(
    'fires only if no pod leads: %s',
    (_, pods, rings) => {
      const rule = rules.find(({ alert }) => alert === 'TintypeOperatorWithoutLeader');
      const test = {
        interval: '1m',
        input_series: Object.entries(pods).map(([name, values]) => ({ series: pod(name), values })),
        alert_rule_test: [
          { eval_time: '10m', alertname: rule?.alert, exp_alerts: rings.map(withWords(rule)) },
        ],
      };
      judge({ groups: [{ name: 'tintype', rules: [rule] }] }, test);
    },
  );

  function withWords(rule: Rule | undefined) {
    const description = 'No pod of the operator in tintype-system holds the Lease.';
    return (alert: object) => ({
      ...alert,
      exp_annotations: { ...rule?.annotations, description },
    });
  }
});

it('TintypeJobFailing fires for a job that failed three times in a row', () => {
  const rule = rules.find(({ alert }) => alert === 'TintypeJobFailing');
  const of = (job: string) => `tintype_job_failed_in_row{namespace="images",job="${job}"}`;
  const description =
    'daily-charge in images failed 3 times within an hour or since it last succeeded.';
  const labels = { severity: 'warning', namespace: 'images', job: 'daily-charge' };
  judge(
    { groups: [{ name: 'tintype', rules: [rule] }] },
    {
      interval: '1m',
      input_series: [
        { series: of('daily-charge'), values: '3x10' },
        { series: of('retention'), values: '2x10' },
      ],
      alert_rule_test: [
        {
          eval_time: '10m',
          alertname: rule?.alert,
          exp_alerts: [
            { exp_labels: labels, exp_annotations: { ...rule?.annotations, description } },
          ],
        },
      ],
    },
  );
});

it('TintypeInstallationNotReady does not fire for a stalled installation', () => {
  const rule = rules.find(({ alert }) => alert === 'TintypeInstallationNotReady');
  const of = (metric: string, name: string) =>
    `tintype_installation_${metric}{namespace="images",installation="${name}"}`;
  const labels = { severity: 'warning', namespace: 'images', installation: 'waiting' };
  const description = rule?.annotations.description.replace(/\{\{.*?\}\}/, 'waiting');
  judge(
    { groups: [{ name: 'tintype', rules: [rule] }] },
    {
      interval: '1m',
      input_series: [
        { series: of('ready', 'waiting'), values: '0x40' },
        { series: of('stalled', 'waiting'), values: '0x40' },
        { series: of('ready', 'stalled'), values: '0x40' },
        { series: of('stalled', 'stalled'), values: '1x40' },
      ],
      alert_rule_test: [
        {
          eval_time: '31m',
          alertname: rule?.alert,
          exp_alerts: [
            { exp_labels: labels, exp_annotations: { ...rule?.annotations, description } },
          ],
        },
      ],
    },
  );
});

describe('alerts about work for people', () => {
  const unreviewed = 'tintype_checks_unreviewed_seconds{namespace="images"}';
  const overQuota = (plan: string) =>
    `tintype_organizations_over_quota{namespace="images",plan="${plan}"}`;
  const event = (result: string) =>
    `tintype_provider_events_total{namespace="images",provider="b",result="${result}"}`;

  it.each([
    ['TintypeChecksUnreviewed', 'four days', { [unreviewed]: '345600x100' }, '4d 0h 0m 0s'],
    ['TintypeChecksUnreviewed', 'a day', { [unreviewed]: '86400x100' }, undefined],
    [
      'TintypeOrganizationOverQuota',
      'one more',
      { [overQuota('paid')]: '1x50 2x50' },
      'over quota: 1 more',
    ],
    ['TintypeOrganizationOverQuota', 'as many', { [overQuota('paid')]: '2x100' }, undefined],
    ['TintypeOrganizationOverQuota', 'one less', { [overQuota('paid')]: '2x50 1x50' }, undefined],
    ['TintypeOrganizationOverQuota', 'on trial', { [overQuota('trial')]: '1x50 9x50' }, undefined],
    [
      'TintypeProviderEventsRefused',
      'one',
      { [event('refused')]: '0x90 1x10' },
      'events of provider b were refused in images',
    ],
    ['TintypeProviderEventsRefused', 'none', { [event('refused')]: '0x100' }, undefined],
    [
      'TintypeProviderEventsRefused',
      'unsigned',
      { [event('unsigned')]: '0x90 9x10' },
      'events of provider b were refused in images',
    ],
    [
      'TintypeProviderEventsRefused',
      'unsigned beside signed',
      { [event('unsigned')]: '0x90 9x10', [event('taken')]: '0x9 4x90' },
      undefined,
    ],
  ] as [string, string, Record<string, string>, string | undefined][])(
    '%s fires only if somebody has to act: %s',
    (alert, _of, series, says) => {
      const rule = rules.find((each) => each.alert === alert);
      const input_series = Object.entries(series).map(([name, values]) => ({
        series: name,
        values,
      }));
      const asked = { eval_time: '100m', alertname: alert };
      const rings = () =>
        judge(
          { groups: [{ name: 'tintype', rules: [rule] }] },
          { interval: '1m', input_series, alert_rule_test: [{ ...asked, exp_alerts: [] }] },
        );
      if (says === undefined) rings();
      else expect(rings).toThrow(says);
    },
  );
});

it.each([
  [
    'TintypeDatabasePoolExhausted',
    'tintype_database_connections{state="waiting",pod="a"}',
    '0x59 1x60',
  ],
  [
    'TintypeOperatorErrors',
    'controller_runtime_reconcile_errors_total{container="operator",controller="project"}',
    '0x59 0+3.1x60',
  ],
])(
  '%s fires after the time that its runbook page names, and not earlier',
  (alert, series, values) => {
    const rule = rules.find((each) => each.alert === alert);
    const page = read(new URL(rule?.annotations.runbook_url ?? '').pathname.slice(1));
    const times = page.match(/(?:within|for) (\d+) minutes/g) ?? [];
    const said = times.map((words) => Number(words.replaceAll(/\D/g, '')));
    const after = said.reduce((sum, minutes) => sum + minutes, 0);
    const silentAfter = (minutes: number) => () =>
      judge(
        { groups: [{ name: 'tintype', rules: [rule] }] },
        {
          interval: '1m',
          input_series: [{ series, values }],
          alert_rule_test: [{ eval_time: `${60 + minutes}m`, alertname: alert, exp_alerts: [] }],
        },
      );
    silentAfter(after - 2)();
    expect(silentAfter(after + 1)).toThrow('got');
  },
);

describe.each(pages)('the runbook page %s', (page) => {
  const text = read(`docs/runbook/${page}`);

  it('says what people notice, where to look and what to do', () => {
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
      'What people notice',
      'Where to look',
      'What to do',
    ]);
    expect(rules.map(({ alert }) => `# ${alert}`)).toContain(text.split('\n')[0]);
  });

  it('names only metrics and commands that exist, and links the documents that it mentions', () => {
    const names = [
      ...text.matchAll(/\b(?:tintype|controller_runtime|workqueue|rest_client)_[a-z0-9_]+/g),
    ];
    for (const [series] of names) expect(findMetric(series), series).toBeDefined();
    expect([...text.matchAll(/`docs\/[^`]*`/g)].map(([name]) => name)).toEqual([]);
    const main = read('runtime/main.ts') + read('runtime/core/schedules.ts');
    for (const [, command = '', job] of text.matchAll(/`tintype ([a-z]+)(?: ([a-z-]+))?/g)) {
      expect(main).toMatch(new RegExp(`command\\('${command}|\\['${command}'`));
      if (command === 'job' && job !== undefined) expect(main).toContain(job);
    }
  });
});
