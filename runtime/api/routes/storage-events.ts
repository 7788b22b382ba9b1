/** Spec: Endpoints, Infrastructure (storage-events). */
import { completeUpload } from '../../actions/complete-upload.ts';
import { ServiceError } from '../../core/errors.ts';
import { INBOUND_WEBHOOK_BODY_BYTES_MAX } from '../../core/limits.ts';
import { storageEventsBody } from '../../core/resources/inbound.ts';
import { parseStorageEvents, spellingsOf } from '../../core/resources/storage-event.ts';
import { findUploadByIngestKey, type UploadRow } from '../../db/uploads.ts';
import type { ApiDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';

/** Changes nothing that the sweep would not change a little later. */
export const receiveStorageEvents = endpoint({
  method: 'POST',
  path: '/v1/internal/storage-events',
  auth: ['storage_event_signature'],
  ok: 200,
  errors: ['invalid_signature'],
  body_bytes_max: INBOUND_WEBHOOK_BODY_BYTES_MAX,
  body: storageEventsBody,
  handle: async ({ deps, body }) => {
    const events = parseStorageEvents(body);
    if (events === undefined) throw new ServiceError('invalid_request', { details: NO_LIST });
    let matched = 0;
    for (const { key } of events) matched += (await look(deps, key)) ? 1 : 0;
    return { received: events.length, matched, ignored: events.length - matched };
  },
});

const NO_LIST = { issues: [{ path: 'events', message: 'expected a list of objects' }] };

/** Whether the key is that of an upload. */
async function look(deps: ApiDeps, key: string | undefined): Promise<boolean> {
  const upload = key === undefined ? undefined : await findByKey(deps, key);
  if (upload === undefined) return false;
  if (upload.status === 'created') await completeAsTold(deps, upload);
  return true;
}

async function findByKey({ db }: ApiDeps, key: string): Promise<UploadRow | undefined> {
  for (const spelling of spellingsOf(key)) {
    const isStorable = !spelling.includes('\0');
    const upload = isStorable ? await findUploadByIngestKey(db, spelling) : undefined;
    if (upload !== undefined) return upload;
  }
  return undefined;
}

/** The storage may have said it too early, twice, or of other bytes: the session then stays as it is. */
async function completeAsTold(deps: ApiDeps, upload: UploadRow): Promise<void> {
  try {
    await completeUpload(deps, upload);
  } catch (error) {
    const isAnswered = error instanceof ServiceError && error.status < 500;
    if (!isAnswered) throw error;
    deps.log.info('a storage event completed nothing', {
      upload_id: upload.upload_id,
      code: error.code,
    });
  }
}
