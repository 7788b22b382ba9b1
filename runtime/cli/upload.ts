/**
 * `tintype upload`: takes files through the public API as any client would: create a session, PUT the bytes
 * where it says, complete, wait until ready, print delivery URLs. Spec: Uploads.
 */
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ProcessingErrorCode, processingErrors } from '../core/errors.ts';
import { sniffContentType } from '../core/image/formats.ts';
import { parseFileSlug } from '../core/slug.ts';
import { Advice } from '../platform/advice.ts';
import { type Api, apiKey, type Credentials, createApi, Refusal, session } from './api-client.ts';
import { deliveryOrigin } from './env.ts';
import { findInstance, type Instance, sampleProject } from './instance.ts';
import { type Progress, showProgress } from './progress.ts';
import { putFile } from './put-file.ts';
import { type Multipart, partsOf, type SentPart, sendParts } from './send-parts.ts';

type UploadOptions = {
  data: string;
  project?: string;
  slug?: string;
  /** Headers of a session that manages the declared projects: only the sample project's key is at hand. */
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
  const instance = await findInstance(options.data);
  const { project, credentials } = await callerOf(instance, options);
  const api = createApi(instance.api_url, credentials);
  const presets = await presetNames(api, project);
  const outcomes = [];
  for (const file of files) {
    const outcome = await uploadOne(api, { file, project, slug: options.slug });
    if (outcome !== undefined) printUrls(deliveryOrigin(instance, project), outcome, presets);
    outcomes.push(outcome);
  }
  const refused = outcomes.filter((outcome) => outcome === undefined).length;
  if (refused > 0)
    throw new Advice(
      `${refused} of ${files.length} files were not published; the reasons stand above`,
    );
}

async function callerOf(
  instance: Instance,
  { project, mintSession }: UploadOptions,
): Promise<{ project: string; credentials: Credentials }> {
  if (project !== undefined && project !== instance.project_slug) {
    const headers = await mintSession(instance);
    return { project, credentials: session(headers, instance.request_signing_secret) };
  }
  const sample = sampleProject(instance);
  return { project: sample.slug, credentials: apiKey(sample.key) };
}

type Wanted = { file: string; project: string; slug: string | undefined };

/** The published slug, or undefined when the file was refused, which has then been said: the others go on. */
async function uploadOne(api: Api, wanted: Wanted): Promise<string | undefined> {
  const progress = showProgress(basename(wanted.file));
  try {
    const ended = await publish(api, { ...wanted, progress });
    if (ended.status !== 'ready') throw new Advice(printFailure(ended));
    progress.done('ready');
    return ended.file_slug;
  } catch (error) {
    progress.failed(messageOf(error));
    return undefined;
  }
}

async function publish(
  api: Api,
  { file, project, slug, progress }: Wanted & { progress: Progress },
): Promise<UploadSession> {
  const { content_type, size_bytes } = await readFacts(file);
  const session = await api.post<UploadSession>(`/v1/projects/${project}/uploads`, {
    content_type,
    size_bytes,
    file_slug: slug ?? slugFromName(file),
    ...partsOf(size_bytes),
  });
  const path = `/v1/projects/${project}/uploads/${session.upload_id}`;
  const parts = await sendBytes(session, { api, path, file, size_bytes, progress });
  progress.note('processing');
  await api.post(`${path}/complete`, parts && { parts });
  return waitUntilEnded(api, path);
}

/** The code, and the sentence that says what to do. */
function printFailure({ status, error_code }: UploadSession): string {
  if (error_code === null) return `ended as ${status}: upload the file again`;
  return `${error_code}: ${processingErrors[error_code].message}`;
}

function messageOf(error: unknown): string {
  if (error instanceof Advice) return error.message;
  return `failed: ${error instanceof Error ? error.message : String(error)}`;
}

async function readFacts(file: string): Promise<{ content_type: string; size_bytes: number }> {
  const facts = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    throw new Advice(`cannot be read (${cause.code})`, { cause });
  });
  if (!facts.isFile()) throw new Advice('is not a file');
  if (facts.size === 0) throw new Advice('is empty');
  const content_type = sniffContentType(await readHead(file));
  if (content_type === undefined) {
    throw new Advice(
      'is not an image that Tintype knows: use JPEG, PNG, WebP, AVIF, GIF, TIFF, BMP or SVG',
    );
  }
  return { content_type, size_bytes: facts.size };
}

const HEAD_BYTES = 4096;

async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** `Holiday Photo (1).JPG` → `holiday-photo-1.jpg`; undefined leaves the name to the service. */
function slugFromName(file: string): string | undefined {
  const name = basename(file)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._]+/g, '-')
    .replaceAll(/-*\.-*/g, '.')
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return parseFileSlug(name);
}

type Sending = {
  api: Api;
  path: string;
  file: string;
  size_bytes: number;
  progress: Progress;
};

/** Whichever way the session names; returns the list of parts where there is one. */
async function sendBytes(
  { direct, multipart }: UploadSession,
  { progress, ...sending }: Sending,
): Promise<SentPart[] | undefined> {
  const onSent = (bytes: number) => progress.at(bytes / sending.size_bytes);
  if (multipart !== undefined) return sendParts(multipart, { ...sending, onSent });
  if (direct === undefined) throw new Advice('the API answered a session without a way in');
  const { put_url: url, headers } = direct;
  await putFile({ url, headers, file: sending.file, onSent });
  return undefined;
}

const POLL_MS = 150;
const POLLS_MAX = 2000;

async function waitUntilEnded(api: Api, path: string): Promise<UploadSession> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const session = await api.get<UploadSession>(path);
    if (['ready', 'failed', 'expired'].includes(session.status)) return session;
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
  throw new Advice('is still being processed: look again later, nothing is lost');
}

async function presetNames(api: Api, project: string): Promise<string[]> {
  const found = await api
    .get<{ resolution_presets: Record<string, string> }>(`/v1/projects/${project}`)
    .catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'not_found') throw error;
      throw new Advice(
        `there is no project ${project} among those that the folder of YAML declares`,
      );
    });
  return Object.keys(found.resolution_presets);
}

function printUrls(origin: string, slug: string, presets: readonly string[]): void {
  const paths = ['originals', 'resize/640x480', ...presets.map((name) => `preset:${name}`)];
  const lines = paths.map((path) => `  ${origin}/${path}/f/${slug}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}
