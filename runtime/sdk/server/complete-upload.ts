/**
 * The last action of the upload helper: completes the session, waits for the file and calls the route's hook. Repeating
 * it calls the hook again. Spec: Upload helper codes; Upload helper constants.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HELPER_POLL_SECONDS_MAX } from '../../core/limits.ts';
import type { HelperUpload } from '../../core/signing/helper-token.ts';
import type { CompleteAnswer, CompleteRequest, UploadedFile } from '../protocol.ts';
import { ApiError } from './api-error.ts';
import type { Upload } from './api-types.ts';
import type { HelperContext } from './upload-handler.ts';
import { helperRefusal, sessionFailure } from './upload-refusal.ts';

const POLL_MS_FIRST = 100;
const POLL_MS_MAX = 1000;

export async function completeUpload(
  context: HelperContext,
  { outcome, upload_id, state }: HelperUpload,
  { parts }: CompleteRequest,
): Promise<CompleteAnswer> {
  const route = context.router[state.route];
  if (route === undefined) throw helperRefusal('unknown_route');
  const path = { slug: context.project, id: upload_id };
  const body = parts === undefined ? {} : { body: { parts } };
  const completed = await context.api
    .call('POST /v1/projects/{slug}/uploads/{id}/complete', { path, ...body })
    .catch((error: unknown) => {
      throw asEnd(error, outcome);
    });
  const upload = await waitForEnd(context, completed);
  if (upload.status !== 'ready') return { status: 'processing', upload_id };
  const file = await readFile(context, upload);
  const done = { metadata: state.metadata, file, upload_id };
  try {
    return { status: 'ready', upload_id, file, result: await route.finish(done) };
  } catch (cause) {
    throw helperRefusal('on_upload_complete_failed', { cause });
  }
}

/**
 * Names a session that ended without its bytes: upload_expired if the token has expired too,
 * otherwise session_expired.
 */
function asEnd(error: unknown, outcome: HelperUpload['outcome']): unknown {
  if (!(error instanceof ApiError) || error.code !== 'upload_expired') return error;
  return outcome === 'valid' ? sessionFailure('session_expired') : helperRefusal('upload_expired');
}

/** Returns a ready upload, or one still processing when time is up; throws a failed one's error. */
async function waitForEnd({ api, project, pollSeconds }: HelperContext, from: Upload) {
  const path = { slug: project, id: from.upload_id };
  const end = performance.now() + (pollSeconds ?? HELPER_POLL_SECONDS_MAX) * 1000;
  let upload = from;
  for (let wait = POLL_MS_FIRST; ; wait = Math.min(wait * 1.5, POLL_MS_MAX)) {
    const { status, error_code } = upload;
    if (status === 'failed') throw sessionFailure(error_code ?? status);
    if (status === 'ready' || performance.now() + wait > end) return upload;
    await sleep(wait);
    upload = await api.call('GET /v1/projects/{slug}/uploads/{id}', { path });
  }
}

async function readFile({ api, project }: HelperContext, upload: Upload): Promise<UploadedFile> {
  const file = await api.call('GET /v1/projects/{slug}/files/{fileSlug}', {
    path: { slug: project, fileSlug: upload.file_slug },
  });
  const { file_slug, file_id, url, width, height, content_type, size_bytes } = file;
  // The upload's own revision, because the file may have a newer one by now.
  const revision = upload.revision ?? file.revision;
  return { file_slug, file_id, revision, url, width, height, content_type, size_bytes };
}
