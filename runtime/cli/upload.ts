/**
 * `tintype upload`: takes files through the public API as any client would: create a session, PUT the bytes
 * where it says, complete, wait until ready, print delivery URLs. Spec: Uploads.
 */
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { sniffContentType } from '../core/image/formats.ts';
import { parseFileSlug } from '../core/slug.ts';
import { Advice } from '../platform/advice.ts';
import { type Api, apiKey, type Credentials, createApi, Refusal, session } from './api-client.ts';
import { deliveryOrigin } from './env.ts';
import { findInstance, type Instance, sampleProject } from './instance.ts';
import { type Progress, showProgress } from './progress.ts';
import { putFile } from './put-file.ts';

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
  error_code: string | null;
  direct?: { put_url: string; headers: Record<string, string> };
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

/** The published slug, or undefined when the file was refused, which has then been said. */
async function uploadOne(
  api: Api,
  { file, project, slug }: { file: string; project: string; slug: string | undefined },
): Promise<string | undefined> {
  const progress = showProgress(basename(file));
  try {
    const facts = await readFacts(file);
    const session = await api.post<UploadSession>(`/v1/projects/${project}/uploads`, {
      content_type: facts.content_type,
      size_bytes: facts.size_bytes,
      file_slug: slug ?? slugFromName(file),
    });
    await sendBytes(session, { file, size_bytes: facts.size_bytes, progress });
    await api.post(`/v1/projects/${project}/uploads/${session.upload_id}/complete`);
    const ended = await waitUntilEnded(api, `/v1/projects/${project}/uploads/${session.upload_id}`);
    if (ended.status !== 'ready')
      throw new Advice(`was refused: ${ended.error_code ?? ended.status}`);
    progress.done('ready');
    return ended.file_slug;
  } catch (error) {
    if (!(error instanceof Advice)) throw error;
    progress.failed(error.message);
    return undefined;
  }
}

async function readFacts(file: string): Promise<{ content_type: string; size_bytes: number }> {
  const facts = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    throw new Advice(`cannot be read (${cause.code})`, { cause });
  });
  if (!facts.isFile()) throw new Advice('is not a file');
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

async function sendBytes(
  session: UploadSession,
  { file, size_bytes, progress }: { file: string; size_bytes: number; progress: Progress },
): Promise<void> {
  if (session.direct === undefined)
    throw new Advice('the API answered a session without a direct PUT URL');
  const onSent = (bytes: number) => progress.at(bytes / size_bytes);
  await putFile({ url: session.direct.put_url, headers: session.direct.headers, file, onSent });
  progress.note('processing');
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
