/**
 * An API is killed while it completes a multipart upload or receives the bytes of one. The client's call fails, and it
 * retries at another API, or never. Either way there is one transition, and nothing is left behind.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findUpload } from '../../runtime/db/uploads.ts';
import { createKey, createProject, newSubject } from '../support/api-client.ts';
import { useApi } from '../support/api-server.ts';
import { must } from '../support/rows.ts';
import {
  type ApiPlace,
  type ApiProcess,
  begin,
  type Doomed,
  finish,
  killCalls,
  type Outcome,
  PART_BYTES,
  picturesFor,
  resign,
  sendParts,
  startApiProcess,
  surveyCalls,
  WAYS,
  type Way,
} from './support/api-kills.ts';
import { takeOver } from './support/ingest-kills.ts';
import { brokenObjects, brokenRows } from './support/promises.ts';
import { makeStorage, STORAGE_KINDS } from './support/storages.ts';
import { sweepDaysLater, sweepSoon } from './support/sweeps.ts';

const SERIES_MS_MAX = 600_000;
/** The step from which on the bytes are in storage, even if the client never retries. */
const ARRIVED: Record<Way, string> = {
  multipart: 'after ingest.completeMultipart 1',
  proxy: 'after ingest.write 1',
};

/** For a PUT through the proxy, the first update only records that it has begun. */
const TRANSITION: Record<Way, string> = {
  multipart: 'update uploads 1',
  proxy: 'update uploads 2',
};

/** Steps that access storage or change rows. Earlier reads can be interrupted without effect. */
const isTried = (step: string) =>
  /ingest\.|update /.test(step) && !/during ingest\.head/.test(step);

/** With a callback URL, every upload causes a webhook. */
const CALLBACK = `update projects set callback_url = 'https://shop.example/hook', callback_secret_sealed = '\\x00'`;

type Caller = Doomed & { way: Way; client: 'calls again' | 'is gone' };

describe.each(STORAGE_KINDS)('a killed API process on %s', (kind) => {
  const api = useApi();
  const owner = api.session(newSubject());
  let place: ApiPlace;
  let alive: ApiProcess;
  let steps: Record<Way, string[]>;
  const callers: Caller[] = [];
  const answers = new Map<Caller, Outcome>();
  const beginHere = (way: Way) => begin(place, alive.baseUrl, way);

  beforeAll(async () => {
    const { project_slug } = await createProject(owner);
    const api_key = await createKey(owner, project_slug);
    const storage = await makeStorage(kind);
    const bytes = await picturesFor();
    place = { db: api.db, url: api.databaseUrl(), storage, api_key, project_slug, bytes };
    alive = await startApiProcess(place);
    steps = await surveyCalls(place, alive);
    for (const way of WAYS) {
      for (const step of steps[way].filter(isTried)) {
        callers.push({ way, step, client: 'calls again', session: await beginHere(way) });
        if (!step.startsWith('after ')) continue;
        callers.push({ way, step, client: 'is gone', session: await beginHere(way) });
      }
    }
    await api.db.query(CALLBACK);
    await killCalls(place, callers);
    for (const caller of callers) {
      if (caller.client === 'is gone') continue;
      answers.set(caller, await finish(place, alive.baseUrl, caller.session));
    }
    await sweepSoon(api.db, storage);
    await takeOver(place);
    await sweepDaysLater(api.db, storage);
  }, SERIES_MS_MAX);
  afterAll(async () => {
    await alive?.end();
    await place?.storage.remove();
  });

  it('is killed before and after the storage calls and the status change', () => {
    expect(steps.multipart).toEqual(
      expect.arrayContaining([
        'during ingest.completeMultipart 1',
        'after ingest.completeMultipart 1',
        'after ingest.head 1',
        'after update uploads 1',
      ]),
    );
    expect(steps.proxy).toEqual(
      expect.arrayContaining([
        'during the bytes of ingest.write',
        'after ingest.write 1',
        'after update uploads 2',
      ]),
    );
  });

  it('accepts the same call again, or returns upload_not_pending if the bytes arrived by proxy', () => {
    for (const [{ way, step, session }, { status, code, upload_id }] of answers) {
      const isDone = steps[way].indexOf(step) >= steps[way].indexOf(`after ${TRANSITION[way]}`);
      const again = isDone ? [409, 'upload_not_pending'] : [204, undefined];
      // The interrupted update may have been committed or not.
      if (way === 'proxy' && step === `during ${TRANSITION[way]}`) continue;
      if (way === 'proxy') expect([status, code], step).toEqual(again);
      else expect([status, upload_id], step).toEqual([200, session.upload_id]);
    }
  });

  it('loses no upload whose client retries or whose bytes have arrived', async () => {
    for (const { way, step, client, session } of callers) {
      const hasArrived = steps[way].indexOf(step) >= steps[way].indexOf(ARRIVED[way]);
      const { status, attempt } = must(await findUpload(api.db, session.upload_id));
      const name = `${way}, killed ${step}, its client ${client}`;
      if (hasArrived || client === 'calls again')
        expect([status, attempt], name).toEqual(['ready', 1]);
      else expect(['ready', 'expired'], name).toContain(status);
    }
  });

  it('leaves no rows, reservations, objects or parts behind', async () => {
    expect(await brokenRows(api.db)).toEqual([]);
    expect(await brokenObjects(api.db, place.storage.look)).toEqual([]);
  });

  it('can be restarted during a multipart upload, which clients resume with or without its part URLs', async () => {
    const remembers = await beginHere('multipart');
    const forgets = { ...(await beginHere('multipart')), parts: [] };
    const port = Number(new URL(alive.baseUrl).port);
    alive.child.kill('SIGKILL');
    await alive.ended;
    alive = await startApiProcess(place, { port });
    const parts = await resign(place, alive.baseUrl, forgets);
    const sentAgain = await sendParts(place, forgets, { part_size: PART_BYTES, parts });
    for (const session of [remembers, sentAgain]) {
      const { status, upload_id } = await finish(place, alive.baseUrl, session);
      expect([status, upload_id]).toEqual([200, session.upload_id]);
    }
    await takeOver(place);
    for (const { upload_id } of [remembers, sentAgain]) {
      expect(await findUpload(api.db, upload_id)).toMatchObject({ status: 'ready', attempt: 1 });
    }
  });
});
