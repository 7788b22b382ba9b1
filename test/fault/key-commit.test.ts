/**
 * The response to the commit of a new project or API key is lost. If the commit succeeded, the caller still gets the
 * secret, and exactly one project or key exists. Spec: Projects; API keys.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createApiKey,
  type MadeApiKey,
  rotateApiKey,
} from '../../runtime/actions/change-api-keys.ts';
import { createProject } from '../../runtime/actions/create-project.ts';
import { hashApiKey } from '../../runtime/core/signing/api-key.ts';
import { findApiKeyByHash } from '../../runtime/db/api-keys.ts';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { listSigningKeys } from '../../runtime/db/signing-keys.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { useDatabase } from '../support/database.ts';
import { id, makeOrganization, makeProject, must } from '../support/rows.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { databaseFaults } from './support/database-faults.ts';
import { watchCalls } from './support/faulty-database.ts';

const { db, url } = useDatabase();
const actor = { actor_kind: 'system' as const };
let proxy: FaultProxy;
let distant: Database;
let project_id: string;

beforeAll(async () => {
  proxy = await startFaultProxy({ port: Number(new URL(url()).port) });
});
beforeEach(async () => {
  ({ project_id } = await makeProject(db));
  const through = Object.assign(new URL(url()), { port: String(proxy.port) }).href;
  distant = createDatabase({ url: through, connectTimeoutMs: 2000 });
});
afterAll(() => proxy.close());

const faults = databaseFaults(db, () => proxy).filter(
  ({ name }) => name !== 'is not heard of again',
);

describe('key management with an unknown commit outcome', { shuffle: false }, () => {
  describe.each(faults)('with a database that $name at the commit', (fault) => {
    const deps = () => ({
      db: watchCalls(distant, (call, queries) =>
        call === 'commit 1' ? fault.begin(queries) : Promise.resolve(),
      ),
      clock: systemClock,
      sealing: createSealing([{ id: 'k1', key: Buffer.alloc(32, 1) }]),
    });
    const during = async <T>(work: Promise<T>): Promise<T> => {
      const done = await work.finally(() => fault.end());
      await distant.close();
      return done;
    };
    const keys = () =>
      db.query<{ key_id: string; status: string }>(
        'select key_id, status from api_keys where project_id = $1 order by created_at',
        [project_id],
      );
    const expectOpens = async ({ row, plaintext_secret }: MadeApiKey) => {
      const found = await findApiKeyByHash(db, hashApiKey(plaintext_secret));
      expect(found?.key_id).toBe(row.key_id);
    };

    it('creates exactly one API key and returns its secret', async () => {
      const input = { project_id, actor, name: 'CI', scopes: null };
      const made = await during(createApiKey(deps(), input));
      await expectOpens(made);
      expect(await keys()).toEqual([{ key_id: made.row.key_id, status: 'active' }]);
    });

    it('rotates an API key exactly once and returns the new secret', async () => {
      const input = { project_id, actor, name: 'CI', scopes: null };
      const old = await createApiKey({ db, clock: systemClock }, input);
      const { key_id } = old.row;
      const made = await during(rotateApiKey(deps(), { project_id, key_id, actor }));
      await expectOpens(made);
      expect(await keys()).toEqual([
        { key_id, status: 'revoked' },
        { key_id: made.row.key_id, status: 'active' },
      ]);
    });

    it('creates one project with exactly one signing key', async () => {
      const { organization_id } = await makeOrganization(db);
      const project = {
        project_id: id('prj'),
        organization_id,
        project_slug: `p-${fault.name.replaceAll(' ', '-')}`,
        name: 'Shop',
      };
      const made = await during(createProject(deps(), { project, actor, projects_max: 10 }));
      const [key, ...more] = await listSigningKeys(db, project.project_id);
      expect(more).toEqual([]);
      expect(made.active_signing_kid).toBe(must(key).kid);
    });

    it('has met a fault in each of these tests', () => {
      expect(fault.count()).toBeGreaterThanOrEqual(3);
    });
  });
});
