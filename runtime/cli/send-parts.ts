/**
 * Sends a large file in parts, a few at a time; a part whose URL the storage refuses is sent again with a new URL.
 * Spec: Uploads (multipart); Upload helper constants.
 */
import {
  HELPER_PART_BYTES_DEFAULT,
  HELPER_PARTS_CONCURRENT_MAX,
  HELPER_SINGLE_PUT_BYTES_MAX,
} from '../core/limits.ts';
import type { Api } from './api-client.ts';
import { putFile, StorageRefusal } from './put-file.ts';

/** Each with a newly signed URL. */
const ATTEMPTS = 3;

/** The `parts` field of a create request: set for a large file, absent for others. */
export function partsOf(sizeBytes: number): { parts?: number } {
  if (sizeBytes <= HELPER_SINGLE_PUT_BYTES_MAX) return {};
  return { parts: Math.ceil(sizeBytes / HELPER_PART_BYTES_DEFAULT) };
}

export type Multipart = {
  part_size: number;
  parts: readonly { part_number: number; url: string }[];
};

export type SentPart = { part_number: number; etag: string };

type Sending = {
  api: Api;
  /** The session's path. */
  path: string;
  file: string;
  size_bytes: number;
  onSent(bytes: number): void;
};

/** Returns the list that completes the session. */
export async function sendParts(multipart: Multipart, sending: Sending): Promise<SentPart[]> {
  const urls = new Map(multipart.parts.map(({ part_number, url }) => [part_number, url]));
  const progress = new Map<number, number>();
  const sent: SentPart[] = [];
  const waiting = [...urls.keys()];
  const sendNext = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const part_number = part;
      const onSent = (bytes: number) => {
        progress.set(part_number, bytes);
        sending.onSent([...progress.values()].reduce((sum, each) => sum + each, 0));
      };
      const etag = await sendPart(urls, { ...sending, ...multipart, part_number, onSent });
      sent.push({ part_number, etag });
    }
  };
  await Promise.all(Array.from({ length: HELPER_PARTS_CONCURRENT_MAX }, sendNext)).catch(
    (error: unknown) => {
      waiting.length = 0;
      throw error;
    },
  );
  return sent;
}

type Part = Sending & { part_size: number; part_number: number };

async function sendPart(urls: Map<number, string>, part: Part): Promise<string> {
  const { part_number, part_size, size_bytes, file, onSent } = part;
  const start = (part_number - 1) * part_size;
  const end = Math.min(start + part_size, size_bytes) - 1;
  const headers = { 'content-length': String(end - start + 1) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const url = urls.get(part_number) ?? '';
      return await putFile({ url, headers, file, range: { start, end }, onSent });
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof StorageRefusal)) throw error;
      await signAgain(urls, part);
    }
  }
}

/** The URLs of parts are valid for minutes, their session for hours. */
async function signAgain(urls: Map<number, string>, { api, path }: Sending): Promise<void> {
  const { parts } = await api.post<{ parts: Multipart['parts'] }>(`${path}/parts`);
  for (const { part_number, url } of parts) urls.set(part_number, url);
}
