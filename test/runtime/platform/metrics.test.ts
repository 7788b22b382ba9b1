import { expect, it } from 'vitest';
import { metricTable } from '../../../runtime/platform/metric-table.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';

it('every metric of the table has a function that records it, and is printed', async () => {
  const metrics = createMetrics();
  metrics.apiRequest({ method: 'GET', route: '/v1/me', status: 200, seconds: 0.01 });
  metrics.delivery({ status: 200, source: 'stored', seconds: 0.01, bytes: 10 });
  metrics.delivery({ status: 304, source: 'memory', seconds: 0.01, bytes: 0 });
  metrics.delivery({ status: 403, source: 'none', code: 'unknown_kid', seconds: 0.01, bytes: 0 });
  metrics.usageUnspooled();
  metrics.usageLost();
  metrics.ingest({ result: 'ready', seconds: 1 });
  metrics.render({ format: 'webp', result: 'done', seconds: 0.2 });
  metrics.decoderKilled('wall_clock');
  metrics.rateRefused('write');
  metrics.providerEvent({ provider: 'a', result: 'refused', count: 0 });
  metrics.providerEvent({ provider: 'b', result: 'refused', count: 1 });
  metrics.registerSources({
    pool: () => ({ total: 3, idle: 2, waiting: 1 }),
    queues: async () => [{ queue: 'render', waiting: 3 }],
    uploads: async () => ({ count: 4, oldest_seconds: 1.5 }),
    in_hand: () => ({ scan: 2 }),
    dependencies: async () => ({ database: true, content: false }),
    database_lead_ms: async () => -2500,
    purges: async () => ({ count: 6, oldest_seconds: 4.5 }),
    checks: async () => ({ count: 7, oldest_seconds: 2.5 }),
    unreviewed: async () => ({ count: 5, oldest_seconds: 3.5 }),
    over_quota: async () => ({ trial: 2, paid: 0 }),
    jobs: async () => [
      { job: 'reconciliation', finished_at: new Date(9000), counts: { differing: 3 } },
    ],
    failed_jobs: async () => [{ job: 'daily-charge', failed: 3 }],
  });
  metrics.purges({ sent: 2, failed: 1 });
  metrics.scans({ clear: 1 });
  metrics.webhook({ result: 'delivered', seconds: 0.1 });
  metrics.jobRun({
    job: 'retention',
    result: 'failed',
    seconds: 1,
    at: new Date(1000),
    counts: {},
  });
  metrics.jobRun({
    job: 'daily-charge',
    result: 'succeeded',
    seconds: 1,
    at: new Date(2000),
    counts: { charged: 3 },
  });
  const { content_type, text } = await metrics.print();
  expect(content_type).toContain('text/plain');
  for (const [name, row] of Object.entries(metricTable)) {
    expect(text).toContain(`# TYPE ${name} ${row.kind}`);
    const sample = row.kind === 'histogram' ? `${name}_count` : name;
    expect(text.split('\n').some((line) => line.startsWith(sample))).toBe(true);
  }
  expect(text).toContain('tintype_delivery_bytes_total 10');
  expect(text).toContain('tintype_delivery_refused_total{code="unknown_kid"} 1');
  expect(text).toContain('tintype_job_last_success_seconds{job="daily-charge"} 2');
  expect(text).not.toContain('tintype_job_last_success_seconds{job="retention"}');
  expect(text).toContain('tintype_job_done_total{job="daily-charge",what="charged"} 3');
  expect(text).toContain('tintype_cdn_purges_total{result="failed"} 1');
  expect(text).toContain('tintype_webhook_seconds_count{result="delivered"} 1');
  expect(text).toContain('tintype_process_cpu_seconds_total');
  expect(text).toContain('tintype_nodejs_eventloop_lag_p99_seconds');
  expect(text).toContain('tintype_rate_refused_total{rate="write"} 1');
  expect(text).toContain('tintype_database_connections{state="waiting"} 1');
  expect(text).toContain('tintype_queue_waiting{queue="render"} 3');
  expect(text).toContain('tintype_dependency_ready{dependency="database"} 1');
  expect(text).toContain('tintype_dependency_ready{dependency="content"} 0');
  expect(text).toContain('tintype_dependency_ready{dependency="broker"} 1');
  expect(text).toContain('tintype_database_lead_seconds -2.5');
  expect(text).toContain('tintype_uploads_waiting 4');
  expect(text).toContain('tintype_uploads_waiting_seconds 1.5');
  expect(text).toContain('tintype_cdn_purges_waiting 6');
  expect(text).toContain('tintype_cdn_purges_waiting_seconds 4.5');
  expect(text).toContain('tintype_checks_waiting 7');
  expect(text).toContain('tintype_checks_waiting_seconds 2.5');
  expect(text).toContain('tintype_checks_unreviewed 5');
  expect(text).toContain('tintype_checks_unreviewed_seconds 3.5');
  expect(text).toContain('tintype_organizations_over_quota{plan="trial"} 2');
  expect(text).toContain('tintype_organizations_over_quota{plan="paid"} 0');
  expect(text).toContain('tintype_provider_events_total{provider="a",result="refused"} 0');
  expect(text).toContain('tintype_provider_events_total{provider="b",result="refused"} 1');
  expect(text).toContain('tintype_job_last_success_seconds{job="reconciliation"} 9');
  expect(text).toContain('tintype_job_last_done{job="reconciliation",what="differing"} 3');
  expect(text).toContain('tintype_job_failed_in_row{job="daily-charge"} 3');
});

it('two registries in one process are independent', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.usageLost();
  expect((await other.print()).text).toContain('tintype_usage_lost_total 0');
});

it('a watched value that cannot be read is left out, and the rest is printed', async () => {
  const metrics = createMetrics();
  let isAway = false;
  const unlessAway = async <T>(value: T) => {
    if (isAway) throw new Error('away');
    return value;
  };
  metrics.registerSources({
    queues: () => unlessAway([{ queue: 'render', waiting: 3 }]),
    uploads: () => unlessAway({ count: 4, oldest_seconds: 1 }),
  });
  const samples = async () =>
    (await metrics.print()).text.split('\n').filter((line) => /^tintype_(queue|upl)/.test(line));
  expect(await samples()).toHaveLength(3);
  isAway = true;
  expect(await samples()).toEqual([]);
  expect((await metrics.print()).text).toContain('tintype_dependency_ready{dependency="broker"} 0');
  isAway = false;
  expect(await samples()).toHaveLength(3);
});

it('a dependency that is no longer checked is no longer printed', async () => {
  const metrics = createMetrics();
  let checks: Record<string, boolean> = { start: false };
  metrics.registerSources({ dependencies: async () => checks });
  const readiness = async () =>
    (await metrics.print()).text.split('\n').filter((line) => /^tintype_dependency/.test(line));
  expect(await readiness()).toEqual(['tintype_dependency_ready{dependency="start"} 0']);
  checks = { database: true };
  expect(await readiness()).toEqual(['tintype_dependency_ready{dependency="database"} 1']);
});
