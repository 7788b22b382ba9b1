/** Sealed values of every kind in a database, and what they open to. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../runtime/db/client.ts';
import { claimIdempotencyKey, updateIdempotencyAnswer } from '../../runtime/db/idempotency-keys.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { sealedColumns } from '../../runtime/db/sealed-values.ts';
import { insertSigningKey } from '../../runtime/db/signing-keys.ts';
import type { Sealing } from '../../runtime/platform/sealing.ts';
import {
  callbackSecretContext,
  idempotentAnswerContext,
  sealedContexts,
  signingKeyContext,
} from '../../runtime/platform/sealing-contexts.ts';
import { id, makeProject } from './rows.ts';

/** Five values: a signing key, three secrets of a callback, and an answer to an Idempotency-Key. */
export async function makeSecrets(
  db: Database,
  sealing: Sealing,
  name = 'secret',
): Promise<ProjectRow> {
  const project = await makeProject(db);
  const { project_id } = project;
  const kid = id('kid');
  const secret_sealed = sealing.seal(Buffer.from(name), signingKeyContext(kid));
  await db.transaction((tx) => insertSigningKey(tx, { kid, project_id, secret_sealed }));
  const callback = () => sealing.seal(Buffer.from(name), callbackSecretContext(project_id));
  await db.query(
    `update projects set callback_url = 'https://hook.example/', callback_secret_sealed = $2,
       previous_callback_secret_sealed = $3, previous_callback_secret_until = now() + interval '1 hour'
     where project_id = $1`,
    [project_id, callback(), callback()],
  );
  await db.query('insert into older_callback_secrets values ($1, now(), $2)', [
    project_id,
    callback(),
  ]);
  await makeAnswer(db, sealing, name);
  return project;
}

export async function makeAnswer(db: Database, sealing: Sealing, answer: string): Promise<void> {
  const claim_id = randomUUID();
  const scope = { caller: 'key', project_slug: 'shop', idempotency_key: claim_id };
  const claim = { ...scope, request_hash: Buffer.alloc(32), claim_id };
  await claimIdempotencyKey(db, claim);
  const sealed_answer = sealing.seal(Buffer.from(answer), idempotentAnswerContext(claim_id));
  await updateIdempotencyAnswer(db, claim, { status: 200, sealed_answer });
}

/** Opens every value of the database; throws if one does not open. */
export async function openAll(db: Database, sealing: Sealing): Promise<string[]> {
  const opened = [];
  for (const { table, column, owner } of sealedColumns) {
    const rows = await db.query<{ owner: string; sealed: Buffer }>(
      `select ${owner} as owner, ${column} as sealed from ${table} where length(${column}) > 0`,
    );
    for (const row of rows) {
      opened.push(sealing.open(row.sealed, sealedContexts[table](row.owner)).toString());
    }
  }
  return opened;
}
