/** Spec: Endpoints, Infrastructure (storage-events). */
import { completeUpload } from '../../actions/complete-upload.ts';
import { ServiceError } from '../../core/errors.ts';
import { wrongInput } from '../../core/input-issue.ts';
import {
  INBOUND_WEBHOOK_BODY_BYTES_MAX,
  INBOUND_WEBHOOK_BODY_VALUES_MAX,
} from '../../core/limits.ts';
import { storageEventsBody } from '../../core/resources/inbound.ts';
import { candidateKeys, parseStorageEvents } from '../../core/resources/storage-event.ts';
import { listUploadsByIngestKey, type UploadRow } from '../../db/uploads.ts';
import type { ApiDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';

/** An accelerator: the sweep would make the same changes a little later. */
export const receiveStorageEvents = endpoint({
  method: 'POST',
  path: '/v1/internal/storage-events',
  auth: ['storage_event_signature'],
  ok: 200,
  errors: ['invalid_signature'],
  body_bytes_max: INBOUND_WEBHOOK_BODY_BYTES_MAX,
  body_values_max: INBOUND_WEBHOOK_BODY_VALUES_MAX,
  body: storageEventsBody,
  handle: async ({ deps, body }) => {
    const events = parseStorageEvents(body);
    if (events === undefined) throw wrongInput(NO_LIST);
    const uploads = await findUploads(deps, events);
    const matched = uploads.filter((upload) => upload !== undefined);
    await completeAll(deps, new Map(matched.map((upload) => [upload.upload_id, upload])));
    const { length } = matched;
    return { received: events.length, matched: length, ignored: events.length - length };
  },
});

const NO_LIST = { path: 'events', message: 'expected a list of objects' };

/** For each event, the upload whose key it names in any spelling; one query for all. */
async function findUploads(
  { db }: ApiDeps,
  events: readonly { key: string | undefined }[],
): Promise<(UploadRow | undefined)[]> {
  const spellings = events.map(({ key }) => (key === undefined ? [] : candidateKeys(key)));
  const storable = new Set(spellings.flat().filter((key) => !key.includes('\0')));
  const rows = await listUploadsByIngestKey(db, [...storable]);
  const byKey = new Map(rows.map((row) => [row.ingest_key, row]));
  return spellings.map((keys) =>
    keys.map((key) => byKey.get(key)).find((row) => row !== undefined),
  );
}

/** A failure does not stop the others; the sender gets an error and sends its events again. */
async function completeAll(deps: ApiDeps, uploads: ReadonlyMap<string, UploadRow>): Promise<void> {
  const failures: unknown[] = [];
  for (const upload of uploads.values()) {
    if (upload.status !== 'created') continue;
    await completeIfPossible(deps, upload).catch((error: unknown) => {
      // The answer reports only the first failure.
      deps.log.warn('a storage event could not be processed', {
        upload_id: upload.upload_id,
        error,
      });
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * The event may be early, repeated or about other bytes; then it is answered like one that
 * completes nothing.
 */
async function completeIfPossible(deps: ApiDeps, upload: UploadRow): Promise<void> {
  try {
    await completeUpload(deps, upload);
  } catch (error) {
    const isAnswered = error instanceof ServiceError && error.status < 500;
    if (!isAnswered) throw error;
    deps.log.info('a storage event matched no upload that could be completed', {
      upload_id: upload.upload_id,
      code: error.code,
    });
  }
}
