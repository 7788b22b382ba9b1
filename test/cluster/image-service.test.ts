import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { useDatabase } from '../support/database.ts';
import {
  expectNoWrites,
  type Json,
  useInstallationCluster,
  usual,
  well,
} from '../support/installation-cluster.ts';
import { kubeForbid } from '../support/kube-quota.ts';
import { kubeRequest } from '../support/kube-request.ts';
import { metricValue } from '../support/metric-value.ts';
import { newSealingKey, readSealingKeys } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
/** The time that new pods have to become ready. */
const DEADLINE_MS = 600_000;
/** How far the operator's clock is ahead of real time. */
let ahead_ms = 0;
const clock = { ...systemTimedClock, now: () => new Date(Date.now() + ahead_ms) };
const sealing = newSealingKey();
/** Runs while a pass probes the broker and the buckets. */
let meanwhile: () => Promise<unknown> = async () => undefined;
const cluster = useInstallationCluster(db, {
  ...{ clock, keys: readSealingKeys(sealing) },
  probeDependencies: async (...asked) => {
    await meanwhile();
    return well(...asked);
  },
});
const { read, list, merge, say, remove, led, untilReason, message, isPresent } = cluster;

const keys = {
  TINTYPE_KEY_ENCRYPTION_KEYS: sealing,
  TINTYPE_TOKEN_KEYS: newSealingKey('t1'),
  TINTYPE_REQUEST_SIGNING_SECRET: randomBytes(32).toString('hex'),
  TINTYPE_STORAGE_EVENT_SECRET: randomBytes(32).toString('hex'),
};
const storage = {
  TINTYPE_S3_ENDPOINT: 'http://s3.example:9000',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
};

function secret(name: string, stringData: Record<string, string>) {
  return cluster.create('Secret', { apiVersion: 'v1', metadata: { name }, stringData });
}

let name = '';

/** Creates the Secrets and an ImageService with a new name. */
async function declare(more: { spec?: object; annotations?: object; databaseUrl?: string } = {}) {
  const { spec = {}, annotations = {}, databaseUrl = url() } = more;
  name = `i${randomBytes(4).toString('hex')}`;
  await secret(`${name}-db`, { url: databaseUrl });
  await secret(`${name}-mq`, { url: 'amqp://user:password@mq.example' });
  await secret(`${name}-s3`, storage);
  await secret(`${name}-keys`, keys);
  await cluster.create('ImageService', {
    apiVersion: 'tintype.dev/v1alpha1',
    metadata: { name, annotations },
    spec: {
      image: 'registry.example/tintype:1',
      baseURL: `https://${name}.example`,
      deliveryRootDomain: `${name}.img.example`,
      databaseSecretRef: { name: `${name}-db` },
      amqpSecretRef: { name: `${name}-mq` },
      storageSecretRef: { name: `${name}-s3` },
      keysSecretRef: { name: `${name}-keys` },
      identity: { issuer: 'https://id.example' },
      ...spec,
    },
  });
}

const parts = ['worker-ingest', 'worker-render', 'dispatcher', 'api', 'delivery'];
const owned = async (kind: string): Promise<Json[]> =>
  (await list(kind)).filter(({ metadata }) =>
    metadata.ownerReferences?.some((each: Json) => each.name === name),
  );
const imageOf = async (part: string): Promise<string> =>
  (await read('Deployment', `${name}-${part}`)).spec.template.spec.containers[0].image;

/** A metric of the installation, as monitoring sees it. */
async function metric(what: 'ready' | 'stalled' | 'paused'): Promise<string | undefined> {
  const series = `tintype_installation_${what}{installation="${cluster.namespace()}/${name}"}`;
  return metricValue(await cluster.metrics().print(), series);
}

/** The operator does not watch Secrets, but a change of the resource starts a pass immediately. */
function poke() {
  return merge('ImageService', name, {
    metadata: { annotations: { poke: String(Math.random()) } },
  });
}

beforeEach(() => cluster.play(usual));

describe('on one database', { shuffle: false }, () => {
  // The tests share one installation, because creating one takes time. Each test leaves it Running
  // for the next one.
  describe('an ImageService', () => {
    it('becomes ready from nothing: first its plan, then the migration, then everything else', async () => {
      let isMigrated = false;
      cluster.play((pod) => {
        const isMigration = pod.metadata.labels['app.kubernetes.io/component'] === 'migrate';
        return isMigration && !isMigrated ? 'wait' : usual(pod);
      });
      await declare({ annotations: { 'tintype.dev/plan-only': 'true' } });
      await led(async () => {
        await untilReason(name, 'PlanOnly');
        const planned = await message(name, 'Planned');
        expect(planned).toContain(`+ Job ${name}-migrate-`);
        expect(planned).toMatch(
          /\n… and, once that Job has migrated the database, the objects .*$/,
        );
        expect(await owned('Job')).toEqual([]);
        await annotate({ 'tintype.dev/plan-only': null });
        await untilReason(name, 'MigrationRunning');
        expect(await owned('Deployment')).toEqual([]);
        expect(await owned('NetworkPolicy')).not.toEqual([]);
        isMigrated = true;
        await untilReason(name, 'Running');
      });
      expect((await owned('Deployment')).map(({ metadata }) => metadata.name).sort()).toEqual(
        parts.map((part) => `${name}-${part}`).sort(),
      );
      for (const kind of [
        'CronJob',
        'Service',
        'PodDisruptionBudget',
        'ServiceAccount',
        'Ingress',
      ]) {
        expect((await owned(kind)).length, kind).toBeGreaterThan(0);
      }
      const { status } = await read('ImageService', name);
      expect(status).toMatchObject({
        image: 'registry.example/tintype:1',
        migrationJob: expect.stringContaining(`${name}-migrate-0001-`),
      });
      expect(status.components).toContainEqual({
        ...{ name: 'api', image: 'registry.example/tintype:1', desired: 2, ready: 2 },
      });
    });

    it('is ready even if its Ingresses have no address, and Routed once they have one', async () => {
      await led(async () => {
        await untilReason(name, 'NoAddress', 'Routed');
        await untilReason(name, 'Running');
        for (const part of ['api', 'delivery']) {
          await say('Ingress', `${name}-${part}`, {
            loadBalancer: { ingress: [{ ip: '192.0.2.1' }] },
          });
        }
        await untilReason(name, 'Routed', 'Routed');
      });
    });

    it('is not written again by further passes', async () => {
      await led(() => expectNoWrites(cluster));
    });

    it('is restored within a pass when others change, add or remove parts of it', async () => {
      await led(async () => {
        const [service, api] = [`${name}-api`, `${name}-api`];
        const { selector } = (await read('Service', service)).spec;
        await merge('Service', service, { spec: { selector: { extra: 'label' } } });
        // Reverted on its own: no other change of the Service triggers the write.
        await until(async () => {
          expect((await read('Service', service)).spec.selector).toEqual(selector);
        });
        // As Helm does when it is told to adopt the Service.
        const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
        await merge('Service', service, { metadata: { labels } });
        await until(async () => {
          const { metadata } = await read('Service', service);
          expect(metadata.labels['app.kubernetes.io/managed-by']).toBe('tintype-operator');
        });
        const { spec } = await read('Deployment', api);
        const [container] = spec.template.spec.containers;
        const env = [...container.env, { name: 'SOMEBODY', value: 'else' }];
        const containers = [{ ...container, env, command: ['sleep'] }];
        await merge('Deployment', api, { spec: { template: { spec: { containers } } } });
        const other = { service: { name: 'other', port: { number: 80 } } };
        await merge('Ingress', api, {
          spec: { ingressClassName: 'another', defaultBackend: other },
        });
        await merge('Service', service, { spec: { externalIPs: ['192.0.2.1'] } });
        const hostAliases = [{ ip: '192.0.2.1', hostnames: ['s3.example'] }];
        const initContainers = [{ name: 'theirs', image: 'registry.example/theirs:1' }];
        await merge('Deployment', `${name}-delivery`, {
          spec: { paused: true, template: { spec: { hostAliases, initContainers } } },
        });
        await remove('PodDisruptionBudget', `${name}-delivery`);
        await until(async () => {
          const found = (await read('Deployment', api)).spec.template.spec.containers[0];
          expect(found.env).toEqual(container.env);
          expect(found).not.toHaveProperty('command');
          expect(await isPresent('PodDisruptionBudget', `${name}-delivery`)).toBe(true);
          expect((await read('Service', service)).spec.externalIPs).toBeUndefined();
          expect((await read('Service', service)).spec.selector).toEqual(selector);
          expect((await read('Ingress', api)).spec.defaultBackend).toBeUndefined();
          const delivery = (await read('Deployment', `${name}-delivery`)).spec;
          expect(delivery.paused).toBeUndefined();
          expect(delivery.template.spec).not.toHaveProperty('hostAliases');
          expect(delivery.template.spec).not.toHaveProperty('initContainers');
        });
        await untilReason(name, 'Running');
        await until(async () => {
          const events = await list('Event');
          expect(events.map(({ reason }) => reason)).toContain('DriftHealed');
        });
      });
    });

    it('that is plan-only lists every object that would be written or deleted', async () => {
      await annotate({ 'tintype.dev/plan-only': 'true' });
      await merge('ImageService', name, {
        spec: { api: { replicas: 3 }, routing: { mode: 'Disabled' } },
      });
      await led(async () => {
        await untilReason(name, 'PlanOnly');
        expect((await message(name, 'Planned')).split('\n').sort()).toEqual(
          [
            `- Ingress ${name}-api`,
            `- Ingress ${name}-delivery`,
            `~ Deployment ${name}-api (spec.replicas differs)`,
          ].sort(),
        );
        await merge('ImageService', name, { spec: { api: null, routing: null } });
        await annotate({ 'tintype.dev/plan-only': null });
        await until(async () => expect(await message(name, 'Planned')).toBeUndefined());
        await untilReason(name, 'Running');
      });
    });

    it('that is paused keeps everything as it is until it is no longer paused', async () => {
      await annotate({ 'tintype.dev/paused': 'true' });
      await merge('ImageService', name, { spec: { dispatcher: { replicas: 2 } } });
      const dispatcher = async () => (await read('Deployment', `${name}-dispatcher`)).spec.replicas;
      const before = (await read('ImageService', name)).status;
      await led(async () => {
        await untilReason(name, 'Paused', 'Paused');
        expect(await metric('paused')).toBe('1');
        const { conditions, ...rest } = (await read('ImageService', name)).status;
        expect(conditions).toContainEqual(
          expect.objectContaining({ type: 'Paused', status: 'True', reason: 'Paused' }),
        );
        const others = conditions.filter((each: Json) => each.type !== 'Paused');
        expect({ ...rest, conditions: others }).toEqual(before);
        expect(await dispatcher()).toBe(1);
        await annotate({ 'tintype.dev/paused': 'yes' });
        await until(async () => {
          const notes = (await list('Event')).map(({ note }) => note);
          expect(notes.join('\n')).toContain(
            'tintype.dev/paused has no effect with the value "yes"',
          );
        });
        await annotate({ 'tintype.dev/paused': null });
        await until(async () => expect(await dispatcher()).toBe(2));
        await untilReason(name, 'Running');
        expect(await message(name, 'Paused')).toBeUndefined();
        expect(await metric('paused')).toBe('0');
      });
    });

    it('brings a new image to the API only once the workers are ready', async () => {
      const next = 'registry.example/tintype:2';
      await led(async () => {
        cluster.play((pod) => {
          const isWorker = pod.metadata.labels['app.kubernetes.io/component'] === 'worker-render';
          return isWorker ? 'wait' : usual(pod);
        });
        await merge('ImageService', name, { spec: { image: next } });
        await untilReason(name, 'WaitingForWorkers', 'ApiAvailable');
        await until(async () => expect(await imageOf('worker-ingest')).toBe(next));
        expect(await imageOf('api')).not.toBe(next);
        cluster.play(usual);
        await untilReason(name, 'Running');
        for (const part of parts) expect(await imageOf(part)).toBe(next);
        expect((await read('ImageService', name)).status.image).toBe(next);
        expect((await owned('Job')).length).toBe(1);
      });
    });

    it('rolls back an image whose pods fail, and tries it again when anything in the spec changes', async () => {
      const bad = 'registry.example/tintype:3';
      await led(async () => {
        cluster.play((pod) => {
          const { image = '' } = pod.spec.containers[0] ?? {};
          const isWorker = pod.metadata.labels['app.kubernetes.io/component'] === 'worker-ingest';
          return isWorker && image === bad ? 'crash' : usual(pod);
        });
        await merge('ImageService', name, { spec: { image: bad } });
        await untilReason(name, 'PodsFailing', 'WorkersAvailable');
        expect(await message(name)).toMatch(/is TINTYPE_DATABASE_URL right\?/);
        await passDeadline(`${name}-worker-ingest`);
        await untilReason(name, 'RolloutFailed');
        ahead_ms = DEADLINE_MS;
        await untilReason(name, 'RolledBack');
        expect(await message(name)).toMatch(/not ready within 10 minutes.*tintype:2' runs again/);
        for (const part of parts) expect(await imageOf(part)).toBe('registry.example/tintype:2');
        await until(async () => {
          const { status } = await read('Deployment', `${name}-worker-ingest`);
          expect(status.unavailableReplicas ?? 0).toBe(0);
        });
        // The cause is gone: any other change of the spec is another attempt.
        cluster.play(usual);
        await merge('ImageService', name, { spec: { dispatcher: { replicas: 1 } } });
        await until(async () => expect(await imageOf('worker-ingest')).toBe(bad));
        await untilReason(name, 'Running');
        expect((await read('ImageService', name)).status.image).toBe(bad);
        await merge('ImageService', name, { spec: { image: 'registry.example/tintype:4' } });
        await untilReason(name, 'Running');
        expect(await imageOf('worker-ingest')).toBe('registry.example/tintype:4');
      });
      ahead_ms = 0;
    });

    it('is deleted with all of its objects and metrics', async () => {
      const measured = () => Promise.all([metric('ready'), metric('stalled'), metric('paused')]);
      await led(async () => {
        await until(async () => expect(await measured()).toEqual(['1', '0', '0']));
        await remove('ImageService', name);
        await until(async () => {
          for (const kind of ownedKinds) expect(await owned(kind), kind).toEqual([]);
        });
        await until(async () => expect(await measured()).toEqual(Array(3).fill(undefined)));
      });
    });

    it('that is deleted during a pass does not make the pass fail', async () => {
      const { countPasses } = cluster;
      const [failed, over] = [await countPasses('error'), await countPasses('success')];
      meanwhile = () => remove('ImageService', name);
      await declare();
      await led(async () => {
        await until(async () => expect(await isPresent('ImageService', name)).toBe(false));
        // A later pass finds nothing left to do.
        await until(async () => expect(await countPasses('success')).toBeGreaterThan(over));
      });
      meanwhile = async () => undefined;
      expect(await countPasses('error')).toBe(failed);
    });

    const ownedKinds = ['Deployment', 'Service', 'CronJob', 'Job', 'NetworkPolicy', 'Ingress'];

    function annotate(annotations: Record<string, string | null>) {
      return merge('ImageService', name, { metadata: { annotations } });
    }

    /** Reports a missed deadline, as the controller of Deployments does after ten minutes. */
    async function passDeadline(deployment: string): Promise<void> {
      const { status } = await read('Deployment', deployment);
      const late = { status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too late' };
      const conditions = status.conditions.map((each: Json) =>
        each.type === 'Progressing' ? { ...each, ...late } : each,
      );
      const { status: code } = await kubeRequest(cluster.plane(), {
        ...{ method: 'PATCH', path: `${cluster.path('Deployment', deployment)}/status` },
        body: { status: { conditions } },
        content_type: 'application/merge-patch+json',
      });
      expect(code).toBe(200);
    }
  });

  // One installation, whose problems are fixed one by one until it runs.
  describe('what keeps an ImageService from running', () => {
    it('is a Secret that is missing or wrong, which is reported before anything is started', async () => {
      const away = new URL(url());
      away.port = '1';
      await declare({ databaseUrl: away.href });
      await remove('Secret', `${name}-keys`);
      await led(async () => {
        await untilReason(name, 'SecretNotFound');
        expect(await message(name)).toMatch(
          /-keys' \(`spec.keysSecretRef`\) does not exist: create/,
        );
        await untilReason(name, 'NotCheckedYet', 'BrokerUsable');
        await untilReason(name, 'Blocked', 'Applied');
        await untilReason(name, 'Blocked', 'CronJobsScheduled');
        const { TINTYPE_TOKEN_KEYS: _, ...fewer } = keys;
        await secret(`${name}-keys`, fewer);
        await poke();
        await untilReason(name, 'SecretKeyMissing');
        await merge('Secret', `${name}-keys`, { stringData: { TINTYPE_TOKEN_KEYS: 'no key' } });
        await poke();
        await untilReason(name, 'SecretInvalid');
        expect(await owned('Deployment')).toEqual([]);
        await merge('Secret', `${name}-keys`, { stringData: keys });
        await poke();
        await untilReason(name, 'DatabaseUnavailable');
        expect(await message(name)).toMatch(/ECONNREFUSED.*check the address, the password/);
      });
    });

    it('is a ConfigMap that does not exist or lacks its key', async () => {
      const create = (data: object) =>
        cluster.create('ConfigMap', { apiVersion: 'v1', metadata: { name: `${name}-ca` }, data });
      await led(async () => {
        await merge('ImageService', name, {
          spec: { caConfigMapRef: { name: `${name}-ca`, key: 'ca.crt' } },
        });
        await untilReason(name, 'ConfigMapNotFound');
        expect(await message(name)).toMatch(
          /-ca' \(`spec.caConfigMapRef`\) does not exist: create/,
        );
        await create({ other: 'x' });
        await poke();
        await untilReason(name, 'ConfigMapKeyMissing');
        await merge('ConfigMap', `${name}-ca`, { data: { 'ca.crt': 'x' } });
        await poke();
        await untilReason(name, 'DatabaseUnavailable');
        await merge('ImageService', name, { spec: { caConfigMapRef: null } });
      });
    });

    it('is a database that does not exist or is not that of the operator', async () => {
      const at = async (pathname: string) => {
        const other = Object.assign(new URL(url()), { pathname });
        await merge('Secret', `${name}-db`, { stringData: { url: other.href } });
        await poke();
      };
      await led(async () => {
        await at('/postgres');
        await untilReason(name, 'DatabaseMismatch');
        expect(await message(name)).toMatch(/'postgres' is not '.*'.*second operator/);
        await at('/not_there');
        await until(async () => expect(await message(name)).toMatch(/not_there/));
        expect(await owned('Job')).toEqual([]);
      });
    });

    it('is a migration that fails: its last line is reported, and nothing is started', async () => {
      cluster.play(() => 'fail');
      await merge('Secret', `${name}-db`, { stringData: { url: url() } });
      await led(async () => {
        await until(async () => {
          const [job] = await owned('Job');
          expect(job).toBeDefined();
          await merge('Job', job.metadata.name, { spec: { backoffLimit: 0 } }).catch(
            () => undefined,
          );
        });
        await untilReason(name, 'MigrationFailed', 'MigrationComplete');
        expect(await message(name)).toMatch(/is TINTYPE_DATABASE_URL right\?.*tries again/);
        expect(await owned('Deployment')).toEqual([]);
        cluster.play(usual);
      });
    });

    it('is an object of others under the name of one of its own, which is left alone', async () => {
      const metadata = { name: `${name}-api` };
      const ports = [{ port: 8080 }];
      await cluster.create('Service', { apiVersion: 'v1', metadata, spec: { ports } });
      await merge('ImageService', name, { spec: { image: 'registry.example/tintype:2' } });
      await led(async () => {
        await untilReason(name, 'ObjectTaken', 'Applied');
        expect(await message(name)).toMatch(/Service '.*-api' exists and was not created by/);
        expect((await read('Service', `${name}-api`)).spec.ports[0].port).toBe(8080);
        // The installation runs this image all the same, so a later one is rolled back to it.
        await until(async () => {
          expect((await read('ImageService', name)).status.image).toBe(
            'registry.example/tintype:2',
          );
        });
        await untilReason(name, 'ObjectTaken');
        await remove('Service', `${name}-api`);
        await untilReason(name, 'Running');
      });
    });

    const dispatchers = async () => (await read('Deployment', `${name}-dispatcher`)).spec.replicas;

    it('is an invalid baseURL: the field is named, and what runs is left as it is', async () => {
      await led(async () => {
        const { spec } = await read('ImageService', name);
        const wrong = { baseURL: 'https://api.0x1', dispatcher: { replicas: 2 } };
        await merge('ImageService', name, { spec: wrong });
        await untilReason(name, 'SpecInvalid');
        await untilReason(name, 'SpecInvalid', 'Stalled');
        expect(await message(name)).toBe(
          '`spec.baseURL`: an origin such as https://api.example.com, without a path',
        );
        expect(await dispatchers()).toBe(1);
        expect(await cluster.metrics().print()).toContain(
          'controller_runtime_terminal_reconcile_errors_total{controller="ImageService"} 1',
        );
        await merge('ImageService', name, { spec: { baseURL: spec.baseURL } });
        await untilReason(name, 'Running');
        expect(await dispatchers()).toBe(2);
      });
    });

    it('is one invalid origin of several: its place is named, and everything else is applied', async () => {
      const [good, bad] = ['https://app.example', 'https://app.0x1'];
      await led(async () => {
        const declared = { dashboardOrigins: [good, bad], dispatcher: { replicas: 1 } };
        await merge('ImageService', name, { spec: declared });
        await untilReason(name, 'SpecInvalid');
        expect(await message(name)).toBe(
          '`spec.dashboardOrigins[1]`: an origin such as https://api.example.com, without a path; that is left out until it is corrected, and all else is done as declared',
        );
        await until(async () => expect(await dispatchers()).toBe(1));
        await until(async () => {
          const { env } = (await read('Deployment', `${name}-api`)).spec.template.spec
            .containers[0];
          expect(env).toContainEqual({ name: 'TINTYPE_DASHBOARD_ORIGINS', value: good });
        });
        await remove('Service', `${name}-api`);
        await until(async () => expect(await isPresent('Service', `${name}-api`)).toBe(true));
        await untilReason(name, 'SpecInvalid');
        await merge('ImageService', name, {
          spec: { dashboardOrigins: null, dispatcher: { replicas: 2 } },
        });
        await untilReason(name, 'Running');
      });
    });

    it('is an object that the API server refuses: the message is passed on, and all others are written', async () => {
      await led(async () => {
        const refused = { uploadBaseURL: 'https://192.0.2.7', dispatcher: { replicas: 1 } };
        await merge('ImageService', name, { spec: refused });
        await untilReason(name, 'ObjectRefused', 'Applied');
        await untilReason(name, 'ObjectRefused', 'Stalled');
        expect(await message(name)).toMatch(
          /^Ingress '.*-api' is refused by the API server: .*192\.0\.2\.7/,
        );
        expect(await dispatchers()).toBe(1);
        await merge('ImageService', name, { spec: { uploadBaseURL: null } });
        await untilReason(name, 'Running');
      });
    });

    it.each([
      [
        'migration',
        'count/jobs.batch',
        'ObjectRefused',
        /^Job '.*' is refused by the API server: /,
      ],
      [
        'pod of its migration',
        'pods',
        'PodsRefused',
        /: its pod was not admitted; `kubectl describe/,
      ],
    ])('is a %s that a quota rejects', async (_, counted, reason, said) => {
      const { spec } = await read('ImageService', name);
      const allow = await kubeForbid(cluster.plane(), cluster.namespace(), counted);
      await led(async () => {
        await merge('ImageService', name, { spec: { image: `${spec.image}1` } });
        await untilReason(name, reason, 'MigrationComplete');
        expect(await message(name, 'MigrationComplete')).toMatch(said);
        expect(await imageOf('api')).toBe(spec.image);
        await remove('Service', `${name}-delivery`);
        await until(async () => expect(await isPresent('Service', `${name}-delivery`)).toBe(true));
        expect(await message(name, 'MigrationComplete')).toMatch(said);
        await allow();
        // A Job retries refused pods with growing delays, so replace it instead of waiting.
        for (const job of await owned('Job')) {
          if (job.status.completionTime === undefined) await remove('Job', job.metadata.name);
        }
        await poke();
        await untilReason(name, 'Running');
      });
    });
  });
});
