/**
 * `tintype upload`: uploads files through the public API like any client: create a session, PUT the bytes where it
 * says, complete, wait until ready, print delivery URLs. Spec: Uploads.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessingErrorCode } from '../core/errors.ts';
import { FILE_FAULTS } from '../core/file-faults.ts';
import { describeProcessingError } from '../core/image/describe-processing-error.ts';
import { Advice } from '../platform/advice.ts';
import { type Instance, requireInstance, sampleProject } from '../platform/instance.ts';
import { type Api, apiKey, type Credentials, createApi, session } from './api-client.ts';
import { deliveryOrigin } from './env.ts';
import { readFileFacts } from './file-facts.ts';
import { type NamedFile, nameFiles } from './file-slugs.ts';
import { findProject } from './find-project.ts';
import { type Progress, showProgress } from './progress.ts';
import { putFile } from './put-file.ts';
import { Refused } from './refused.ts';
import { type Multipart, partsOf, type SentPart, sendParts } from './send-parts.ts';
import { describeProtection, type ServingProject, servedPaths } from './served-paths.ts';

type UploadOptions = {
  data: string;
  project?: string;
  /** Who owns the project and uploads to it. */
  sub?: string;
  slug?: string;
  /** Headers of a session of that person, as only the sample project's key is at hand. */
  mintSession(instance: Instance): Promise<Record<string, string>>;
};

type UploadSession = {
  upload_id: string;
  file_slug: string;
  status: string;
  error_code: ProcessingErrorCode | null;
  direct?: { put_url: string; headers: Record<string, string> };
  multipart?: Multipart;
};

export async function upload(files: readonly string[], options: UploadOptions): Promise<void> {
  if (options.slug !== undefined && files.length > 1) {
    throw new Advice('--slug names one file: upload these one by one, or leave it out', {
      exitCode: 2,
    });
  }
  const instance = await requireInstance(options.data);
  const { project, credentials } = await callerOf(instance, options);
  const api = createApi(instance.api_url, credentials);
  const serving = await findProject(api, { ...options, project });
  const outcomes: Outcome[] = [];
  const waiting = nameFiles(files, options.slug).entries();
  const uploadNext = async () => {
    for (const [at, named] of waiting) {
      const outcome = await uploadOne(api, { ...named, project });
      if ('slug' in outcome) printUrls(deliveryOrigin(instance, project), outcome.slug, serving);
      outcomes[at] = outcome;
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_A_TIME }, uploadNext));
  if (serving.delivery_access === 'protected' && outcomes.some((outcome) => 'slug' in outcome)) {
    process.stderr.write(`${describeProtection(project)}\n`);
  }
  printSummary(outcomes);
}

/** Two are decoded at a time, while the next one is sent. */
const FILES_AT_A_TIME = 3;

/** The published slug, or the code of the refusal. */
type Outcome = { slug: string } | { code: string };

function printSummary(outcomes: readonly Outcome[]): void {
  const codes = outcomes.flatMap((outcome) => ('code' in outcome ? [outcome.code] : []));
  const files = outcomes.length === 1 ? 'file' : 'files';
  if (codes.length === 0) {
    if (outcomes.length > 1)
      process.stderr.write(`All ${outcomes.length} ${files} are published.\n`);
    return;
  }
  const counts = [...Map.groupBy(codes, (code) => code)].map(
    ([code, { length }]) => `${length} ${code}`,
  );
  throw new Advice(
    `${codes.length} of ${outcomes.length} ${files} ${codes.length === 1 ? 'was' : 'were'} not published (${counts.join(', ')}); see the reasons above`,
  );
}

async function callerOf(
  instance: Instance,
  { project = sampleProject(instance).slug, sub, mintSession }: UploadOptions,
): Promise<{ project: string; credentials: Credentials }> {
  if (sub === undefined && project === instance.project_slug) {
    return { project, credentials: apiKey(instance.api_key) };
  }
  const headers = await mintSession(instance);
  return { project, credentials: session(headers, instance.request_signing_secret) };
}

type Wanted = NamedFile & { project: string };

/** Prints a refusal and returns, so that the other files continue. */
async function uploadOne(api: Api, wanted: Wanted): Promise<Outcome> {
  const progress = showProgress(wanted.file);
  try {
    const { slug, notes } = await publish(api, { ...wanted, progress });
    const name = wanted.file.split('/').at(-1);
    const about = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
    progress.done(`${slug === name ? 'ready' : `ready as ${slug}`}${about}`);
    return { slug };
  } catch (error) {
    progress.failed(messageOf(error));
    return { code: error instanceof Refused ? error.code : 'internal' };
  }
}

async function publish(
  api: Api,
  { file, project, slug, progress, ...named }: Wanted & { progress: Progress },
): Promise<{ slug: string; notes: string[] }> {
  const { content_type, size_bytes, note } = await readFileFacts(file);
  const session = await api.post<UploadSession>(`/v1/projects/${project}/uploads`, {
    content_type,
    size_bytes,
    file_slug: slug,
    ...partsOf(size_bytes),
  });
  const { upload_id } = session;
  const path = `/v1/projects/${project}/uploads/${upload_id}`;
  try {
    const parts = await sendBytes(session, { api, path, file, size_bytes, progress });
    progress.note('processing');
    await api.post(`${path}/complete`, parts && { parts });
    const ended = await waitUntilEnded(api, { path, progress, upload_id });
    if (ended.status !== 'ready') throw failureOf(ended, content_type);
    await refuseBlocked(api, { project, slug: ended.file_slug });
    const notes = [named.note, note].filter((each) => each !== undefined);
    return { slug: ended.file_slug, notes };
  } catch (error) {
    throw withId(error, upload_id);
  }
}

/** The code, and the sentence that says what to do. */
function failureOf({ status, error_code }: UploadSession, contentType: string): Refused {
  if (error_code === null) return new Refused('internal', `it ended as ${status}: upload it again`);
  return new Refused(error_code, describeProcessingError(error_code, contentType));
}

/**
 * A blocked name stays blocked, whatever is uploaded under it: the picture is stored, but not
 * served.
 */
async function refuseBlocked(api: Api, file: { project: string; slug: string }): Promise<void> {
  const path = `/v1/projects/${file.project}/files/${file.slug}`;
  // The file is published even if this request fails.
  const found = await api.get<{ status: string }>(path).catch(() => undefined);
  if (found?.status !== 'blocked') return;
  const sentence = `the name ${file.slug} is blocked by moderation: the picture is stored, and is served once staff unblock it. Ask for that in a note on the file`;
  throw new Refused('file_blocked', sentence);
}

/** Other failures include the upload's id, for the person who runs Tintype. */
const plain: ReadonlySet<string> = new Set(FILE_FAULTS);

function withId(error: unknown, uploadId: string): unknown {
  if (error instanceof Refused && plain.has(error.code)) return error;
  const code = error instanceof Refused ? error.code : 'internal';
  const sentence = messageOf(error).replace(`${code}: `, '');
  return new Refused(code, `${sentence} (upload ${uploadId})`, { cause: error });
}

function messageOf(error: unknown): string {
  if (error instanceof Advice) return error.message;
  return `internal: ${error instanceof Error ? error.message : String(error)}`;
}

type Sending = {
  api: Api;
  path: string;
  file: string;
  size_bytes: number;
  progress: Progress;
};

/** Uses the way that the session names; returns the list of parts, if any. */
async function sendBytes(
  { direct, multipart }: UploadSession,
  { progress, ...sending }: Sending,
): Promise<SentPart[] | undefined> {
  const onSent = (bytes: number) => progress.at(bytes / sending.size_bytes);
  if (multipart !== undefined) return sendParts(multipart, { ...sending, onSent });
  if (direct === undefined) {
    throw new Refused(
      'invalid_response',
      'the API returned a session without an upload URL: check its version',
    );
  }
  const { put_url: url, headers } = direct;
  await putFile({ url, headers, file: sending.file, onSent });
  return undefined;
}

const POLL_MS = 150;
const POLLS_MAX = 2000;
const POLLS_UNTIL_SAID = 100;

type Waiting = { path: string; progress: Progress; upload_id: string };

async function waitUntilEnded(api: Api, { path, progress, upload_id }: Waiting) {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const session = await api.get<UploadSession>(path);
    if (['ready', 'failed', 'expired'].includes(session.status)) return session;
    if (polls === POLLS_UNTIL_SAID) {
      progress.say(`… is ${WAITS[session.status] ?? session.status} (upload ${upload_id})`);
    }
    await sleep(POLL_MS);
  }
  throw new Refused(
    'detached',
    'the upload did not finish within five minutes, but is not lost: check again later; if it is still waiting, see the log of Tintype',
  );
}

const WAITS: Readonly<Record<string, string>> = {
  uploaded: 'waiting for a free worker; if this lasts, the log of Tintype says why',
  processing: 'still being processed',
};

function printUrls(origin: string, slug: string, project: ServingProject): void {
  const lines = servedPaths(project).map((path) => `  ${origin}/${path}/f/${slug}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}
