// One installation in a real cluster, which the commands of docs/walkthroughs/platform.md install, upgrade, restore and
// remove. The image is built from the Dockerfile, pods reach the servers as Services, and viewers' requests pass
// through an ingress controller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readShellBlocks } from '../contract/support/blocks.ts';
import { identify } from '../contract/support/tools.ts';
import { sendUpload, upload } from '../contract/support/upload.ts';
import { over, photograph } from '../support/pictures.ts';
import type { Platform } from '../walkthroughs/support/platform.ts';
import { typeFirstImage } from './support/first-image.ts';
import { type IngressController, startIngressController } from './support/ingress.ts';
import {
  HOME,
  left,
  openInstallation,
  podsOf,
  type Reached,
  ROOT_DOMAIN,
  reachApi,
  whatHolds,
} from './support/installation.ts';
import { startKeda } from './support/keda.ts';
import { apply, kubectl, makeNamespace, until, waitFor } from './support/kubectl.ts';
import { type Load, loadWhile } from './support/load.ts';
import { restartNode } from './support/restart-node.ts';
import { scaleUnderLoad } from './support/scaling.ts';
import { type Surroundings, startSurroundings } from './support/surroundings.ts';
import { view } from './support/viewers.ts';

const TEAM = 'tintype-e2e-team';
const NEWCOMER = 'tintype-e2e-first';
const DOMAIN = 'img.shop.example';

let around: Surroundings;
let ingress: IngressController;
let platform: Platform;
let reached: Reached;
let secret: string;
let keda: Awaited<ReturnType<typeof startKeda>> | undefined;

/**
 * Disposed of in reverse order, even if some fail: anything left open would keep the run from
 * ending.
 */
const open = new AsyncDisposableStack();

beforeAll(async () => {
  around = await startSurroundings();
  open.defer(() => around.stop());
  ingress = await startIngressController();
  open.defer(() => ingress.stop());
  open.defer(deleteNamespaces);
  open.defer(() => keda?.stop());
  platform = await openInstallation(around, ingress.class_name);
  open.defer(() => platform.close());
  open.defer(() => reached?.stop());
});

afterAll(() => open.disposeAsync());

async function deleteNamespaces(): Promise<void> {
  await kubectl('delete', 'namespace', TEAM, NEWCOMER, '--ignore-not-found', '--timeout=60s');
}

/** The number of images that viewers have received. */
let delivered = 0;

/** Requests an image as a viewer, through the ingress controller. */
async function deliver(host: string, path: string) {
  const seen = await view({ host, path, port: ingress.http.port });
  if (seen.status === 200) delivered += 1;
  return seen;
}

/** Reconnects to the API, because other pods may run by now. */
async function reach(): Promise<void> {
  await reached?.stop();
  reached = await reachApi(around, ingress.http);
}

/** The database that the installation currently uses. */
let database = 'tintype';
const query = <Row>(text: string) => around.postgres.query<Row>(database, text);

const sum = async (text: string) => Number((await query<{ sum: string }>(text))[0]?.sum ?? 0);
const metered = () => sum('select sum(requests) from usage_batch_rows');

const ingestBucket = () => around.s3['TINTYPE_INGEST_BUCKET'] ?? '';

const scalers = process.env['E2E_KEDA'] === undefined ? ['BuiltIn'] : ['BuiltIn', 'KEDA'];

async function scaleBy(mode: string): Promise<void> {
  if (mode === 'KEDA' && process.env['E2E_KEDA'] === 'start') keda = await startKeda();
  const patch = JSON.stringify({ spec: { autoscaling: { mode } } });
  const what = ['patch', 'imageservice/main', '--type=merge', '--patch', patch];
  await kubectl('--namespace', HOME, ...what);
  if (mode === 'KEDA') await waitFor(HOME, 'scaledobject/main-worker-ingest', 'create');
  if (mode === 'KEDA') await waitFor(HOME, 'scaledobject --all', 'condition=Ready');
}

/**
 * Runs `happens` under load and expects that no request fails. Counts the deliveries, all of which
 * must be metered.
 */
async function failsNobody(happens: (load: Load) => Promise<void>): Promise<void> {
  const target = { port: ingress.http.port, domain: DOMAIN, secret };
  const seen = await loadWhile(target, happens);
  delivered += seen.delivered;
  expect(seen.happened).toEqual({ status: 'fulfilled', value: undefined });
  expect(seen.wrong, seen.wrong.join('\n')).toEqual([]);
}

/** Runs a job immediately, as of the given time. */
async function runJob(name: string, at: Date): Promise<void> {
  const how = ['create', 'job', `${name}-now`, `--from=cronjob/main-${name}`];
  const printed = await kubectl('--namespace', HOME, ...how, '--dry-run=client', '--output=json');
  const job = JSON.parse(printed);
  job.spec.template.spec.containers[0].args.push('--at', at.toISOString());
  await apply(HOME, [job]);
  await waitFor(HOME, `job/${name}-now`, 'condition=Complete');
}

describe('an installation in a cluster', () => {
  it('is made by the chart and one ImageService', async () => {
    await platform.step('prepare');
    await platform.step('install');
    await reach();
  });

  it('leads a newcomer to the first image by docs/kubernetes.md', async () => {
    const fit = await typeFirstImage({
      ...{ api_url: reached.api_url, ingress_port: ingress.http.port, name: NEWCOMER },
      ...{ token: await around.token('alice'), subject: 'alice' },
      photo: await over(photograph(900, 600)).jpeg().toBuffer(),
    });
    expect(await identify(fit)).toMatchObject({ width: 640, height: 427 });
    delivered += 1;
  });

  it('passes `tintype doctor`, run as the runbook shows', async () => {
    const typed = readShellBlocks('docs/runbook/README.md').filter((block) =>
      block.includes(` --namespace ${HOME} exec `),
    );
    expect(typed).toHaveLength(1);
    const [, ...words] = typed.join('').trim().split(' ');
    const said = await kubectl(...words, '--fix-cors');
    expect(said).toMatch(/✓ migrated/);
    expect(said).not.toContain('✗');
  });

  it('delivers an image of an applied Project at its default host and at its custom domain', async () => {
    const { body: me } = await reached.alice('GET', '/v1/me');
    const organizationId = me.organization.organization_id;
    await makeNamespace(TEAM);
    await apply(TEAM, [
      {
        apiVersion: 'tintype.dev/v1alpha1',
        kind: 'Project',
        metadata: { name: 'shop' },
        spec: { displayName: 'Shop', staff: { organizationId, customDomains: [DOMAIN] } },
      },
    ]);
    await waitFor(TEAM, 'project/shop', 'condition=Ready');
    await waitFor(TEAM, 'project/shop', 'condition=Routed');
    const made = await reached.alice('POST', '/v1/projects/shop/keys', { name: 'e2e' });
    secret = made.body.plaintext_secret;
    const bytes = await over(photograph(900, 600)).jpeg({ quality: 90 }).toBuffer();
    const picture = { bytes, content_type: 'image/jpeg', file_slug: 'photo.jpg' };
    expect(await upload(reached.holder(secret), 'shop', picture)).toMatchObject({
      status: 'ready',
      error_code: null,
    });
    for (const host of [`shop.${ROOT_DOMAIN}`, DOMAIN]) {
      const image = await deliver(host, '/resize/300x200/format/webp/f/photo.jpg');
      expect(image.status).toBe(200);
      expect(await identify(image.bytes)).toEqual({ format: 'WEBP', width: 300, height: 200 });
    }
  });

  it('delivers images after its database was restored', async () => {
    // The dump must include the usage of these deliveries.
    await until(`${delivered} deliveries`, async () => (await metered()) === delivered);
    await platform.step('backup');
    await around.postgres.query('postgres', 'drop database tintype with (force)');
    expect(await platform.step('restore')).toMatch(/ studio +\| Film Studio +\| active /);
    database = 'tintype2';
    for (const path of ['/originals/f/photo.jpg', '/resize/311x207/f/photo.jpg']) {
      const image = await deliver(DOMAIN, path);
      expect(image.status).toBe(200);
    }
  });

  it('fails no request while pods are killed', async () => {
    await failsNobody(async (load) => {
      for (const component of ['delivery', 'worker-render', 'api', 'dispatcher']) {
        const [pod] = await podsOf(component);
        await kubectl('--namespace', HOME, 'delete', 'pod', pod?.name ?? '', '--wait=false');
        await waitFor(HOME, `deployment/main-${component}`, 'condition=Available');
        await load.goesOn();
      }
    });
  });

  it('fails no request while a new version replaces every pod', async () => {
    await failsNobody(async (load) => {
      await platform.step('upgrade');
      await load.goesOn();
    });
  });

  it.each(scalers)(
    'scales its workers up and down by %s autoscaling, without a lost or repeated upload',
    async (mode) => {
      await scaleBy(mode);
      await reach();
      const key = reached.holder(secret);
      const bytes = await over(photograph(1800, 1200)).jpeg({ quality: 90 }).toBuffer();
      const picture = { bytes, content_type: 'image/jpeg' };
      const { storage } = around;
      const bucket = ingestBucket();
      const { most, least, uploads } = await scaleUnderLoad({
        key,
        project: 'shop',
        picture,
        storage,
        bucket,
      });
      expect(most).toHaveLength(3);
      expect(least).toHaveLength(1);
      expect(most).toContain(least[0]);
      expect(new Set(uploads.map(({ status }) => status))).toEqual(new Set(['ready']));
      // Every upload was processed in its first attempt.
      expect(await query('select max(attempt) as attempt from uploads')).toEqual([{ attempt: 1 }]);
    },
  );

  // This also ends the pods of everything else on the node.
  if (process.env['E2E_DESTRUCTIVE'] === '1') {
    it('recovers from a power loss of its node, and finishes the pending uploads', async () => {
      await reach();
      const bytes = await over(photograph(600, 400)).jpeg().toBuffer();
      around.storage.slow(ingestBucket());
      const picture = { bytes, content_type: 'image/jpeg' };
      await Promise.all([1, 2, 3].map(() => sendUpload(reached.holder(secret), 'shop', picture)));
      await until('a worker is at work', async () => around.storage.reading().length > 0);
      await restartNode();
      around.storage.release();
      // Reads the database, because connections to pods break while pods are replaced.
      const unfinished = () => query("select upload_id from uploads where status <> 'ready'");
      await until('every upload is ready', async () => (await unfinished()).length === 0, 240);
      await ingress.reconnect();
      await until('delivery', async () => {
        const seen = await deliver(DOMAIN, '/resize/300x200/format/webp/f/photo.jpg');
        return seen.status === 200;
      });
    });
  }

  it('meters and charges every delivered image by its scheduled jobs', async () => {
    await until(`${delivered} deliveries`, async () => (await metered()) === delivered);
    const hour = 3_600_000;
    await runJob('hourly-rollup', new Date(Date.now() + hour));
    await runJob('daily-charge', new Date(Date.now() + 24 * hour));
    const credits = await sum('select sum(credits) from usage_hours');
    expect(credits).toBeGreaterThanOrEqual(delivered);
    expect(await sum('select sum(delta) from ledger')).toBe(credits);
  });

  it('is uninstalled without leaving anything behind', async () => {
    await platform.step('uninstall').catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await whatHolds(HOME).catch(String)}`);
    });
    expect(await left()).toEqual([]);
  });
});
