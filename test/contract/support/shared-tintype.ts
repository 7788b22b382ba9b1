/**
 * The Tintype that test files of a run share if the usual settings and a project of their own are all that they need.
 * The main process of the run starts it at the first request, and stops it when no file uses it any more.
 */
import { inject } from 'vitest';
import { askFor, giveBack, type Offered, offer } from '../../support/shared-service.ts';
import { type Caller, withSession } from './client.ts';
import { isOnServers, removeFolder, startTintype, type Tintype } from './tintype.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A URL that returns a `Place` with an unused project. The first request starts a Tintype. */
    tintypeUrl: string;
  }
}

/**
 * `instance` names the project of the test file and its key. The subject `demo` owns it, and also
 * the declared project `demo`.
 */
type Place = Pick<Tintype, 'instance' | 'data'>;
export type UsedTintype = Place & { stop(): Promise<void> };

/** Runs in the main process of the test run. */
export function offerTintype(): Promise<Offered> {
  let started: ReturnType<typeof start> | undefined;
  let [projects, users] = [0, 0];
  const take = async () => {
    users += 1;
    started ??= start();
    const { tintype, owner } = await started;
    projects += 1;
    const project_slug = `shared-${projects}`;
    const { instance, data } = tintype;
    const api_key = await createProject(owner, project_slug);
    return JSON.stringify({ instance: { ...instance, project_slug, api_key }, data });
  };
  const stop = async () => {
    const ending = started;
    started = undefined;
    await ending?.then(
      ({ tintype }) => end(tintype),
      () => undefined,
    );
  };
  return offer(take, stop, async () => {
    users -= 1;
    if (users === 0) await stop();
  });
}

async function start() {
  const tintype = await startTintype();
  return { tintype, owner: await withSession(tintype, 'demo') };
}

async function end(tintype: Tintype): Promise<void> {
  await tintype.end('SIGTERM');
  await removeFolder(tintype.data);
}

/** Returns its key. */
async function createProject(owner: Caller, project_slug: string): Promise<string> {
  const created = await owner('POST', '/v1/projects', { project_slug });
  const key = await owner('POST', `/v1/projects/${project_slug}/keys`, { name: 'test' });
  if (key.status !== 201) throw new Error(`no project: ${created.bytes} ${key.bytes}`);
  return key.body.plaintext_secret;
}

/**
 * The shared Tintype, with a project that no other file uses. In files that run on real servers,
 * one of their own, with the project `demo`.
 */
export async function takeTintype(): Promise<UsedTintype> {
  if (isOnServers()) {
    const own = await startTintype();
    return { ...own, stop: () => end(own) };
  }
  const place = JSON.parse(await askFor(inject('tintypeUrl'))) as Place;
  return { ...place, stop: () => giveBack(inject('tintypeUrl')) };
}
