// Spec: Project (callback_url, callback_secret, rotate_callback_secret); Events.
import { beforeEach, describe, expect, it } from 'vitest';
import { type ProjectRecord, projectRecord } from '../../../../runtime/core/resources/project.ts';
import { insertWebhookDeliveries } from '../../../../runtime/db/webhook-deliveries.ts';
import { callbackSecretContext } from '../../../../runtime/platform/sealing-contexts.ts';
import {
  codeOf,
  createProject,
  expectRecord,
  issuesOf,
  newSubject,
} from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const api = useApi();
const owner = api.session(newSubject());
const URL_1 = 'https://1.1.1.1/hook';
const URL_2 = 'https://[2606:4700::1]:8443/hook?a=1';
let project: ProjectRecord;

beforeEach(async () => {
  project = await createProject(owner);
});

const patch = (body: unknown) => owner('PATCH', `/v1/projects/${project.project_slug}`, body);
const secretIn = async (body: unknown): Promise<string | undefined> => {
  const answer = await patch(body);
  expect(answer.status, answer.text).toBe(200);
  expectRecord(projectRecord, answer.body);
  return answer.body.callback_secret;
};

type Secrets = {
  callback_secret_sealed: Buffer | null;
  previous_callback_secret_sealed: Buffer | null;
  hours_left: number | null;
};

const opened = (sealed: Buffer | null | undefined) =>
  sealed
    ? api.deps().sealing.open(sealed, callbackSecretContext(project.project_id)).toString()
    : null;

/** Secrets older than the previous one that still sign for about a day: unsealed, newest first. */
async function olderSecrets() {
  const rows = await api.db.query<{ secret_sealed: Buffer }>(
    `select secret_sealed from older_callback_secrets
     where project_id = $1 and signs_until > now() + interval '23 hours' order by signs_until desc`,
    [project.project_id],
  );
  return rows.map(({ secret_sealed }) => opened(secret_sealed));
}

/** The current secret, and the previous one, which still signs: both unsealed. */
async function storedSecrets() {
  const { project_id } = project;
  const [row] = await api.db.query<Secrets>(
    `select callback_secret_sealed, previous_callback_secret_sealed,
       round(extract(epoch from previous_callback_secret_until - now()) / 3600)::integer as hours_left
     from projects where project_id = $1`,
    [project_id],
  );
  return {
    current: opened(row?.callback_secret_sealed),
    previous: opened(row?.previous_callback_secret_sealed),
    hours_left: row?.hours_left ?? null,
  };
}

describe('callback_secret', () => {
  it('is returned only by the request that sets the first callback URL', async () => {
    const secret = await secretIn({ callback_url: URL_1 });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
    expect(await secretIn({ callback_url: URL_1 })).toBeUndefined();
    expect(await secretIn({ callback_url: URL_2 })).toBeUndefined();
    expect(await secretIn({ rotate_callback_secret: false })).toBeUndefined();
    const read = await owner('GET', `/v1/projects/${project.project_slug}`);
    expect(read.body).toMatchObject({ callback_url: URL_2, callback_secret_set: true });
    for (const answer of [read, await owner('GET', '/v1/projects')]) {
      expect(answer.text).not.toContain('whsec_');
    }
    expect(await storedSecrets()).toEqual({ current: secret, previous: null, hours_left: null });
  });

  it('is returned by the request that rotates it, and the previous one keeps signing for 24 hours', async () => {
    const first = await secretIn({ callback_url: URL_1 });
    const second = await secretIn({ rotate_callback_secret: true });
    expect(second).toMatch(/^whsec_/);
    expect(second).not.toBe(first);
    expect(await storedSecrets()).toEqual({ current: second, previous: first, hours_left: 24 });
    expect(await olderSecrets()).toEqual([]);
    const third = await secretIn({ callback_url: URL_2, rotate_callback_secret: true });
    expect(await storedSecrets()).toEqual({ current: third, previous: second, hours_left: 24 });
    expect(await olderSecrets()).toEqual([first]);
  });

  it.each([-600, 600])(
    'signs for 24 hours after a rotation by the database’s clock if the process clock is %i s off',
    async (seconds) => {
      const own = createManualClock();
      own.advance(seconds);
      api.change({ clock: own });
      await secretIn({ callback_url: URL_1 });
      await secretIn({ rotate_callback_secret: true });
      const [row] = await api.db.query<{ seconds_left: number }>(
        `select extract(epoch from previous_callback_secret_until - now())::float8 as seconds_left
       from projects where project_id = $1`,
        [project.project_id],
      );
      expect(row?.seconds_left).toBeLessThanOrEqual(86_400);
      expect(row?.seconds_left).toBeGreaterThan(86_340);
    },
  );

  it('keeps its ten newest versions signing after many rotations, and none without a URL', async () => {
    const made = [await secretIn({ callback_url: URL_1 })];
    for (let count = 0; count < 11; count++)
      made.push(await secretIn({ rotate_callback_secret: true }));
    expect(await olderSecrets()).toEqual(made.slice(2, 10).toReversed());
    await secretIn({ callback_url: null });
    expect(await olderSecrets()).toEqual([]);
  });

  it('is created only once when the first URL and a rotation are sent together', async () => {
    const secret = await secretIn({ callback_url: URL_1, rotate_callback_secret: true });
    expect(await storedSecrets()).toEqual({ current: secret, previous: null, hours_left: null });
  });

  it('is deleted with the URL, and a later URL gets a new one', async () => {
    const first = await secretIn({ callback_url: URL_1 });
    await secretIn({ rotate_callback_secret: true });
    expect(await secretIn({ callback_url: null })).toBeUndefined();
    expect((await patch({})).body).toMatchObject({
      callback_url: null,
      callback_secret_set: false,
    });
    expect(await storedSecrets()).toEqual({ current: null, previous: null, hours_left: null });
    const second = await secretIn({ callback_url: URL_1 });
    expect(second).toMatch(/^whsec_/);
    expect(second).not.toBe(first);
  });

  it('cannot be rotated without a callback URL', async () => {
    for (const body of [
      { rotate_callback_secret: true },
      { rotate_callback_secret: true, callback_url: null },
    ]) {
      const answer = await patch(body);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['rotate_callback_secret']);
    }
  });
});

describe('callback_url', () => {
  it('must be https with a public address, however the address is written', async () => {
    const wrong = [
      'http://1.1.1.1/hook',
      'https://127.0.0.1/',
      'https://127.1/',
      'https://0x7f000001/',
      'https://2130706433/',
      'https://localhost/',
      'https://localhost./',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest',
      'https://100.64.0.1/',
      'https://0.0.0.0/',
      'https://[::1]/',
      'https://[::ffff:1.1.1.1]/',
      'https://[64:ff9b::808:808]/',
      'https://[fd00::1]/',
      'https://nowhere.invalid/',
      'https://user:pass@1.1.1.1/',
      'https://1.1.1.1/#part',
      'https://1.1.1.1/\u0000',
      'ftp://1.1.1.1/',
      'hook',
      '',
      5,
    ];
    for (const callback_url of wrong) {
      const answer = await patch({ callback_url });
      expect(codeOf(answer), String(callback_url)).toBe('400 invalid_request');
      expect(issuesOf(answer)).toEqual(['callback_url']);
    }
    expect((await patch({})).body).toEqual(project);
  });

  it('may be any URL if the deployment allows it', async () => {
    api.change({ settings: { callbackEgress: 'any' } });
    expect((await patch({ callback_url: 'http://127.0.0.1:9/hook' })).status).toBe(200);
  });

  it('is applied to pending deliveries when it changes, and cancels them when it is removed', async () => {
    await patch({ callback_url: URL_1 });
    const { project_id } = project;
    const event = { event: 'upload.ready' as const, body: '{}', created_at: new Date() };
    const delivery_id = `upload.ready:${project_id}`;
    await api.db.transaction((tx) =>
      insertWebhookDeliveries(tx, [{ ...event, project_id, delivery_id }]),
    );
    const waiting = () =>
      api.db.query('select status, url from webhook_deliveries where project_id = $1', [
        project_id,
      ]);
    await patch({ callback_url: URL_2 });
    expect(await waiting()).toEqual([{ status: 'pending', url: URL_2 }]);
    await patch({ callback_url: null });
    expect(await waiting()).toEqual([expect.objectContaining({ status: 'canceled' })]);
  });
});
