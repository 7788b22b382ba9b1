/**
 * Records the metrics of processes, scrape by scrape, and lets promtool evaluate when the alerts of
 * config/prometheus/rules.yaml fire. Scrapes count as 30 seconds apart, the interval of the chart's PodMonitor.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { projectRoot } from '../../contract/support/tintype.ts';

export const LOOK_SECONDS = 30;

export type Tape = {
  /** Adds the /metrics of each pod, or undefined for a pod that did not respond. */
  add(looks: Readonly<Record<string, string | undefined>>): void;
  /** The number of scrapes. */
  length(): number;
  /**
   * Throws promtool's report if, from the first scrape to `until`, other alerts fired than these.
   */
  expectAlerts(alerts: readonly string[], until: number): Promise<void>;
};

/** By name with labels, one value per scrape; undefined if the series was missing. */
type Series = Map<string, (number | undefined)[]>;

/** `unseen` matches series to leave out, such as those of a job that runs in real time. */
export function openTape(unseen: RegExp): Tape {
  const series: Series = new Map();
  let length = 0;
  const note = (name: string, value: number) => {
    const values = series.get(name) ?? [];
    values[length] = value;
    series.set(name, values);
  };
  return {
    add: (looks) => {
      for (const [pod, page] of Object.entries(looks)) {
        for (const [name, value] of samplesOf(pod, page ?? '')) {
          if (!unseen.test(name)) note(name, value);
        }
      }
      length += 1;
    },
    length: () => length,
    expectAlerts: (alerts, until) => judge(series, { alerts, until }),
  };
}

/** Leaves out metrics of Node itself, except those that alerts read, because there are many. */
const OF_NODE = /^tintype_(?:nodejs_(?!eventloop_lag_p99)|process_(?!start_time))/;

function samplesOf(pod: string, page: string): [name: string, value: number][] {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines
    .filter((line) => !OF_NODE.test(line))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const all = [`namespace="tintype"`, `pod="${pod}"`, ...(labels === '' ? [] : [labels])];
      return [`${name}{${all.join(',')}}`, Number(value)];
    });
}

type Judged = { alerts: readonly string[]; until: number };

async function judge(series: Series, { alerts, until }: Judged): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tintype-tape-'));
  try {
    await writeFile(join(folder, 'rules.yml'), await readRules());
    const tests = [{ interval: `${LOOK_SECONDS}s`, ...asked(series, { alerts, until }) }];
    const suite = { rule_files: ['rules.yml'], evaluation_interval: `${LOOK_SECONDS}s`, tests };
    await writeFile(join(folder, 'tape.yml'), JSON.stringify(suite));
    await runPromtool(['test', 'rules', join(folder, 'tape.yml')]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the groups of the PrometheusRule without the Kubernetes object around them. */
async function readRules(): Promise<string> {
  const resource = parse(await readFile(join(projectRoot, 'config/prometheus/rules.yaml'), 'utf8'));
  return JSON.stringify(resource.spec);
}

function asked(series: Series, { alerts, until }: Judged) {
  const input_series = [...series].map(([name, values]) => ({
    series: name,
    values: printValues(values, until),
  }));
  // The input includes an operator that always leads, because otherwise its alert would fire.
  const leader =
    'leader_election_master_status{name="tintype-operator",namespace="tintype-system"}';
  input_series.push({ series: leader, values: `1x${until}` });
  const labels = alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
  const promql_expr_test = [
    {
      expr: 'group by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1d]))',
      eval_time: `${until * LOOK_SECONDS}s`,
      exp_samples: labels,
    },
  ];
  return { input_series, promql_expr_test };
}

/**
 * Prints the values in promtool's syntax. Like Prometheus, marks a series that disappears as stale.
 */
function printValues(values: readonly (number | undefined)[], until: number): string {
  const looks = Array.from({ length: until + 1 }, (_, at) => values[at]);
  return looks.map((value, at) => printValue(value, looks[at - 1])).join(' ');
}

function printValue(value: number | undefined, before: number | undefined): string {
  if (value !== undefined && Number.isFinite(value)) return String(Math.round(value * 1e6) / 1e6);
  return before === undefined ? '_' : 'stale';
}

async function runPromtool(args: readonly string[]): Promise<void> {
  const child = spawn('promtool', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((done, failed) => {
    child.once('close', done).once('error', failed);
  });
  const [code, ...said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(said.join('\n').slice(-2000));
}
