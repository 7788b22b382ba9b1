// Idempotency-Key, an addition to Spec: Conventions; Codes by status (ours: idempotency_key_reused).
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { codeOf, createProject, newSubject, signatureOf } from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';

const api = useApi();

it.each([
  {
    made: 'uploads',
    input: { content_type: 'image/png', size_bytes: 9 },
    idOf: 'upload_id',
    action: 'abort',
    after: { status: 'expired' },
  },
  {
    made: 'keys',
    input: { name: 'server' },
    idOf: 'id',
    action: 'revoke',
    after: { status: 'revoked' },
  },
])(
  'an Idempotency-Key reused for another of the $made returns 400 idempotency_key_reused and changes nothing',
  async ({ made, input, idOf, action, after }) => {
    const subject = newSubject();
    const owner = api.session(subject);
    const folder = `/v1/projects/${(await createProject(owner)).project_slug}/${made}`;
    const make = async () => (await owner('POST', folder, input)).body[idOf] as string;
    const find = async (id: string) =>
      (await owner('GET', folder)).body.items.find(
        (item: Record<string, string>) => item[idOf] === id,
      );
    const [first, second, key] = [await make(), await make(), randomUUID()];
    const untouched = await find(second);
    const send = async (id: string) => {
      const path = `${folder}/${id}/${action}`;
      const headers = { ...(await api.sessionHeaders(subject)), ...signatureOf('POST', path, '') };
      return api.send({ method: 'POST', path, headers: { ...headers, 'idempotency-key': key } });
    };
    expect(await send(first)).toMatchObject({ status: 200, body: { [idOf]: first, ...after } });
    expect(codeOf(await send(second))).toBe('400 idempotency_key_reused');
    expect(untouched).toBeDefined();
    expect(await find(second)).toEqual(untouched);
    expect((await send(first)).body[idOf]).toBe(first);
  },
);
