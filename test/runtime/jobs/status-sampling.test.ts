// Every service is tested for real, once a minute; incidents open and close automatically, and a page shows them.
// Spec: Public, status; Staff, incidents.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StatusRecord } from '../../../runtime/core/resources/incident.ts';
import type { JobContext } from '../../../runtime/jobs/job.ts';
import { statusSampling } from '../../../runtime/jobs/status-sampling.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { StorageUnavailable } from '../../../runtime/platform/storage/bucket.ts';
import { STAFF_SUBJECT, useApi } from '../../support/api-server.ts';
import { startBrowser } from '../../support/browser.ts';
import { type DeliveryHost, startDeliveryHost } from '../../support/delivery-host.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject, makeUpload } from '../../support/rows.ts';

const api = useApi();
let host: DeliveryHost;
let jobs: TestJobs;
let browser: Browser;
const began = Date.now() - 7_200_000;
/** The minutes sampled so far. */
let minute = 0;

beforeAll(async () => {
  host = await startDeliveryHost({ db: api.db, rootDomain: 'localhost' });
  jobs = await makeJobs(api.db);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await host?.close();
  await jobs?.close();
});
beforeEach(async () => {
  await api.db.query('delete from status_samples');
  await api.db.query('delete from incidents');
  await api.db.query('delete from webhook_deliveries');
  await api.db.query(`update uploads set uploaded_at = now() where status = 'uploaded'`);
});

const origin = () => api.deps().addresses.baseUrl;

function nextMinute(): JobContext {
  minute += 1;
  const at = new Date(began + minute * 60_000);
  const addresses = { api: origin(), delivery: `http://status.localhost:${host.port}` };
  const { signal } = new AbortController();
  const buckets = { ...jobs.deps.buckets, content: host.content };
  const { queue } = host;
  return { ...jobs.deps, buckets, queue, addresses, at, run: `run-${minute}`, signal };
}
const sampled = async (changes: Partial<JobContext> = {}) =>
  statusSampling({ ...nextMinute(), ...changes });
/** Samples in a process that was not given the public addresses of the service. */
async function sampledUntold(changes: Partial<JobContext> = {}) {
  const { addresses: _untold, ...context } = nextMinute();
  return statusSampling({ ...context, ...changes });
}
const status = async (): Promise<StatusRecord> =>
  (await api.anonymous('GET', '/v1/public/status')).body;
const samplesOf = async (service: string) =>
  (await status()).services
    .find((each) => each.service === service)
    ?.samples.map(({ ok }) => (ok ? '.' : 'x'))
    .join('');
const nobody = 'http://127.0.0.1:1';
const FILL_OF_FAILED = `getComputedStyle(document.querySelector('rect.fails')).fill`;

describe('a sample', () => {
  it('of each service is good if the service works, with a new render each time', async () => {
    const rendered = host.renders.length;
    expect(await sampled()).toEqual({ good: 5, failed: 0, unknown: 0 });
    expect(host.renders.length).toBe(rendered + 1);
    for (const { samples } of (await status()).services)
      expect(samples.map(({ ok }) => ok)).toEqual([true]);
    // Once rendered images are stored, samples must not be served from them.
    const again = async () => {
      await sampled();
      return host.renders.length;
    };
    await expect.poll(again).toBeGreaterThan(rendered + 1);
  });

  it('is stored once a minute even if two processes take it', async () => {
    const at = new Date();
    await sampled({ at });
    await sampled({ at });
    expect(await samplesOf('api')).toBe('.');
  });

  it('fails if nothing, or another service, answers at the address', async () => {
    expect(await sampled({ addresses: { api: nobody, delivery: nobody } })).toEqual({
      good: 3,
      failed: 2,
      unknown: 0,
    });
    await sampled({ addresses: { api: `http://localhost:${host.port}`, delivery: origin() } });
    expect([await samplesOf('api'), await samplesOf('delivery')]).toEqual(['xx', 'xx']);
  });

  it.each(['content', 'ingest'] as const)(
    'of the API is good while only the %s bucket is away, and fails without the database',
    async (name) => {
      const { buckets, db } = api.deps();
      const away = async () => {
        throw new StorageUnavailable('it is away');
      };
      api.change({ buckets: { ...buckets, [name]: { ...buckets[name], check: away } } });
      expect((await api.anonymous('GET', '/readyz')).status).toBe(503);
      await sampled();
      api.change({ db: { ...db, query: away } });
      expect((await api.anonymous('GET', '/readyz')).status).toBe(503);
      await sampled();
      api.change({});
      expect(await samplesOf('api')).toBe('.x');
    },
  );

  it.each(['ingest', 'content'] as const)(
    'of uploads fails if the %s bucket is read-only',
    async (name) => {
      const buckets = { ...jobs.deps.buckets, content: host.content };
      const write = async () => {
        throw new StorageUnavailable('it can only be read');
      };
      const readOnly = { ...buckets, [name]: { ...buckets[name], write } };
      await sampled({ buckets });
      expect(await sampled({ buckets: readOnly })).toEqual({ good: 4, failed: 1, unknown: 0 });
      expect(await samplesOf('ingest')).toBe('.x');
    },
  );

  it('of uploads and webhooks fails if something has been waiting for more than two minutes', async () => {
    const project = await makeProject(api.db);
    const { upload_id } = await makeUpload(api.db, project);
    await api.db.query(
      `update uploads set status = 'uploaded', uploaded_at = now() - interval '119 seconds' where upload_id = $1`,
      [upload_id],
    );
    await api.db.query(
      `insert into webhook_deliveries (delivery_id, project_id, event, body, url, next_attempt_at)
       values ('test:1', $1, 'webhook.test', '{}', 'https://1.1.1.1/hook', now() - interval '115 seconds')`,
      [project.project_id],
    );
    expect(await sampled()).toMatchObject({ failed: 0 });
    await api.db.query(`update uploads set uploaded_at = uploaded_at - interval '1 minute'`);
    await api.db.query(
      `update webhook_deliveries set next_attempt_at = next_attempt_at - interval '1 minute'`,
    );
    expect(await sampled()).toMatchObject({ failed: 2 });
    await api.db.query(`update webhook_deliveries set lease_until = now() - interval '1 minute'`);
    expect(await sampled()).toMatchObject({ failed: 1 });
  });

  it('is not stored for services that the process cannot check', async () => {
    const lines: { msg: string; service?: string }[] = [];
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
    const log = createLog({ level: 'debug', name: 'test', destination });
    expect(await sampledUntold({ is_queue_alone: true, log })).toMatchObject({ unknown: 3 });
    const services = ['api', 'delivery', 'render'];
    for (const service of services) expect(await samplesOf(service)).toBe('');
    expect(lines.map(({ msg }) => msg)).toEqual(
      services.map(() => 'a service cannot be checked from this process'),
    );
    expect(lines.map(({ service }) => service).toSorted()).toEqual(services);
  });
});

describe('an automatic incident', () => {
  it('opens at the third failed sample in a row, dated from the first, and closes at the fifth good one', async () => {
    const failing = {
      addresses: { api: nobody, delivery: `http://status.localhost:${host.port}` },
    };
    await sampled(failing);
    await sampled(failing);
    expect((await status()).incidents).toEqual([]);
    await sampled(failing);
    await sampled(failing);
    const [opened, ...others] = (await status()).incidents;
    expect(others).toEqual([]);
    expect(opened).toMatchObject({ automatic: true, services: ['api'], ended_at: null });
    const [first] =
      (await status()).services.find(({ service }) => service === 'api')?.samples ?? [];
    expect(opened?.started_at).toBe(first?.sampled_at);
    for (let n = 0; n < 4; n += 1) await sampled();
    expect((await status()).incidents[0]?.ended_at).toBeNull();
    await sampled();
    const [closed] = (await status()).incidents;
    expect(Date.parse(closed?.ended_at ?? '') - Date.parse(opened?.started_at ?? '')).toBe(240_000);
  });

  it('closes at its last sample, and says so, after four minutes without samples', async () => {
    const failing = { addresses: { api: nobody, delivery: nobody } };
    for (let n = 0; n < 3; n += 1) await sampled(failing);
    const isOpen = async () => (await status()).incidents.map(({ ended_at }) => ended_at === null);
    for (let n = 0; n < 3; n += 1) await sampledUntold();
    expect(await isOpen()).toEqual([true, true]);
    // The process is ending, which says nothing about the service.
    await sampled({ signal: AbortSignal.abort() });
    expect(await isOpen()).toEqual([true, true]);
    await sampledUntold();
    const { services, incidents } = await status();
    expect(incidents).toHaveLength(2);
    for (const { services: of, ended_at, body } of incidents) {
      const last = services.find(({ service }) => service === of[0])?.samples.at(-1)?.sampled_at;
      expect(ended_at).toBe(last);
      expect(body).toContain(`after ${last?.slice(0, 16).replace('T', ' ')} UTC is not known.`);
    }
    for (let n = 0; n < 3; n += 1) await sampled(failing);
    expect((await isOpen()).toSorted()).toEqual([false, false, true, true]);
  });

  it('closes at its own start if its samples have been deleted', async () => {
    for (let n = 0; n < 3; n += 1) await sampled({ addresses: { api: nobody, delivery: nobody } });
    await api.db.query('delete from status_samples');
    minute += 3;
    await sampledUntold();
    for (const { started_at, ended_at } of (await status()).incidents)
      expect(ended_at).toBe(started_at);
  });
});

describe('the /status page', () => {
  it('shows services, incidents and history without scripts or resources from elsewhere', async () => {
    await sampled();
    const failing = {
      addresses: { api: nobody, delivery: `http://status.localhost:${host.port}` },
    };
    for (let n = 0; n < 3; n += 1)
      await sampled({ ...failing, at: new Date(Date.now() - (3 - n) * 60_000) });
    await api.db.query(`update incidents set title = '<b>Down</b> & out'`);
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: 'light' });
    const page = await context.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    const answer = await page.goto(`${origin()}/status`);
    expect(answer?.headers()['cache-control']).toBe('public, max-age=30');
    expect(await page.locator('h1').textContent()).toBe('A service is failing');
    expect(await page.locator('article h3').textContent()).toBe('<b>Down</b> & out');
    expect(await page.locator('.services li strong').allTextContents()).toContain('Fails');
    expect(await page.locator('svg.day').count()).toBe(5);
    expect(await page.locator('svg.day').first().getAttribute('aria-label')).toBe(
      '25.00 % of 4 samples of the last 24 hours were good',
    );
    const fill = await page.evaluate(FILL_OF_FAILED);
    expect(fill).toBe('rgb(192, 32, 47)');
    if (process.env['SHOT']) await page.screenshot({ path: process.env['SHOT'], fullPage: true });
    expect(asked.every((url) => url.startsWith(origin()))).toBe(true);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('names the services of an incident, and lists a future incident as planned', async () => {
    const incident = { severity: 'minor', body: 'We look into it.' };
    const soon = new Date(Date.now() + 86_400_000).toISOString();
    for (const [title, more] of [
      ['Slow', { services: ['delivery', 'delivery', 'render'] }],
      ['Move', { services: ['api', '<i>'], started_at: soon }],
    ] as const) {
      const sent = { title, ...incident, ...more };
      expect((await api.session(STAFF_SUBJECT)('POST', '/v1/staff/incidents', sent)).status).toBe(
        201,
      );
    }
    const page = await browser.newPage();
    await page.goto(`${origin()}/status`);
    expect(await page.locator('h1').textContent()).toBe('There is an incident');
    expect(await page.locator('h1').getAttribute('class')).toBe('fails');
    const captions = await page.locator('article p.faint').allTextContents();
    expect(captions[0]).toMatch(/ on: Delivery of images, Rendering of new sizes$/);
    expect(captions[1]).toMatch(/ on: The management API, <i>$/);
    expect(await page.locator('article, h2').allTextContents()).toEqual([
      expect.stringContaining('Slow'),
      'Planned',
      expect.stringContaining('Move'),
      'Services',
      'The last seven days',
    ]);
    if (process.env['SHOT']) await page.screenshot({ path: process.env['SHOT'], fullPage: true });
    await api.db.query(`delete from incidents where title = 'Slow'`);
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe('The state of some services is unknown');
    await page.close();
  });

  it('says that all services work, or that their state is unknown', async () => {
    const page = async () => (await fetch(`${origin()}/status`)).text();
    const headline = async () => /<h1[^>]*>([^<]*)/.exec(await page())?.[1];
    expect(await headline()).toBe('The state of some services is unknown');
    await sampled({ at: new Date() });
    expect(await headline()).toBe('All services work');
  });
});
