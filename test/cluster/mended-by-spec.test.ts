// A version that cannot start is replaced only by declaring another version, newer or older.
import { afterEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import {
  anInstallation,
  createSecrets,
  expectNoWrites,
  type Json,
  useInstallationCluster,
  usual,
} from '../support/installation-cluster.ts';
import type { Outcome } from '../support/pod-player.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();
const cluster = useInstallationCluster(db, { keys: readSealingKeys(sealing) });
const { create, read, merge, led, untilReason, list, isPresent } = cluster;

const imageOf = (version: string) => `registry.example/tintype:${version}`;
const parts = ['worker-ingest', 'worker-render', 'dispatcher', 'api', 'delivery'];
/** A CronJob that becomes due meanwhile starts a Job too, whose pod keeps its image. */
const isOfVersion = ({ metadata }: Json): boolean =>
  [...parts, 'migrate'].includes(metadata.labels['app.kubernetes.io/component']);

/** Pods of this component with this image have this outcome; all others are healthy. */
function play(component: string, outcome: Outcome, image: string): void {
  cluster.play((pod) => {
    const isIt = pod.metadata.labels['app.kubernetes.io/component'] === component;
    return isIt && pod.spec.containers[0]?.image === image ? outcome : usual(pod);
  });
}

async function imagesOf(): Promise<Json[]> {
  return Promise.all(
    parts.map(async (part) => {
      const { spec } = await read('Deployment', `main-${part}`);
      return spec.template.spec.containers[0].image;
    }),
  );
}

async function expectAllRun(image: string): Promise<void> {
  await untilReason('main', 'Running');
  expect(await imagesOf()).toEqual(parts.map(() => image));
  const { status } = await read('ImageService', 'main');
  expect(status.image).toBe(image);
  await until(async () => {
    const pods = (await list('Pod')).filter(isOfVersion);
    const running = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
    const others = running.filter(({ spec }) => spec.containers[0].image !== image);
    expect(others.map(({ metadata }) => metadata.name)).toEqual([]);
  });
}

/** If there is another one, the failure shows both. */
async function expectOneMigration(): Promise<void> {
  expect((await list('Job')).filter(isOfVersion)).toHaveLength(1);
}

afterEach(() => cluster.play(usual));

let newest = 1;

function newVersion(): string {
  newest += 1;
  return imageOf(String(newest));
}

// Each begins with the version that the one before has left.
describe('an ImageService', { shuffle: false }, () => {
  it('a first version whose migration hangs is left behind by declaring another image', async () => {
    await createSecrets(cluster, { url: url(), sealing });
    play('migrate', 'wait', imageOf('1'));
    await create('ImageService', anInstallation('main', { image: imageOf('1') }));
    await led(async () => {
      await untilReason('main', 'MigrationRunning');
      const image = newVersion();
      await merge('ImageService', 'main', { spec: { image } });
      await expectAllRun(image);
      await expectOneMigration();
    });
  }, 120_000);

  describe.each([
    ['the migration', 'migrate', 'wait', 'MigrationRunning'],
    ['workers that are not ready', 'worker-render', 'wait', 'WaitingForWorkers'],
    ['workers that crash', 'worker-ingest', 'crash', 'Blocked'],
    ['an API that is not ready', 'api', 'wait', 'RollingOut'],
    ['an API that crashes', 'api', 'crash', 'PodsFailing'],
  ] as const)('a new version that hangs at %s', (_what, component, outcome, reason) => {
    it.each(['back', 'forward'] as const)(
      'is replaced by going %s to another version',
      async (way) => {
        const before = (await read('ImageService', 'main')).spec.image;
        const bad = newVersion();
        const next = way === 'back' ? before : newVersion();
        await led(async () => {
          await untilReason('main', 'Running');
          play(component, outcome, bad);
          await merge('ImageService', 'main', { spec: { image: bad } });
          await untilReason('main', reason, component === 'migrate' ? 'Ready' : 'ApiAvailable');
          // The previous version keeps running.
          const { status } = await read('Deployment', 'main-api');
          expect(status.readyReplicas).toBeGreaterThanOrEqual(2);
          await merge('ImageService', 'main', { spec: { image: next } });
          await expectAllRun(next);
          await expectOneMigration();
          await expectNoWrites(cluster);
        });
      },
      120_000,
    );
  });

  describe('a Secret that is lost while everything runs', () => {
    const generations = async () =>
      Promise.all(
        parts.map(async (part) => (await read('Deployment', `main-${part}`)).metadata.generation),
      );

    it.each([
      ['keys', 'is deleted', 'SecretNotFound', /^Secret 'keys' \(`spec\.keysSecretRef`\)/],
      ['db', 'is deleted', 'SecretNotFound', /^Secret 'db' \(`spec\.databaseSecretRef`\)/],
      ['mq', 'is emptied', 'SecretKeyMissing', /^Key 'url' .*'mq' \(`spec\.amqpSecretRef`\)/],
      [
        's3',
        'has an empty value',
        'SecretInvalid',
        /^Key 'AWS_SECRET_ACCESS_KEY' .*'s3' \(`spec\.storageSecretRef`\) is empty/,
      ],
    ] as const)(
      '%s %s: it is reported, everything keeps running, and it is resolved when the Secret is back',
      async (name, how, reason, expectedMessage) => {
        const { apiVersion, data, metadata } = await read('Secret', name);
        await led(async () => {
          await untilReason('main', 'Running');
          const before = await generations();
          if (how === 'is deleted') await cluster.remove('Secret', name);
          const emptied = how === 'is emptied' ? null : { AWS_SECRET_ACCESS_KEY: '' };
          if (how !== 'is deleted') await merge('Secret', name, { data: emptied });
          await untilReason('main', reason);
          expect(await cluster.message('main')).toMatch(expectedMessage);
          await untilReason('main', 'Available', 'ApiAvailable');
          // A deleted object is recreated meanwhile.
          await cluster.remove('Service', 'main-api');
          await until(async () => expect(await isPresent('Service', 'main-api')).toBe(true));
          const own = { apiVersion, metadata: { name: metadata.name }, data };
          if (how === 'is deleted') await create('Secret', own);
          else await merge('Secret', name, { data });
          await untilReason('main', 'Running');
          expect(await generations()).toEqual(before);
        });
      },
      60_000,
    );
  });
});
