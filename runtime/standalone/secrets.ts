/**
 * The secrets of a Tintype on one machine: created at the first start, kept in `<data>/secrets.json` (mode 0600) and
 * never changed, so that URLs, sealed rows and keys outlive a restart.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Advice } from '../platform/advice.ts';
import { writePrivateFile } from './private-file.ts';

const secretsSchema = z.object({
  request_signing_secret: z.string(),
  storage_event_secret: z.string(),
  storage_url_secret: z.string(),
  provider_a_secret: z.string(),
  provider_b_secret: z.string(),
  key_encryption_keys: z.string(),
  token_keys: z.string(),
  /**
   * API keys of sample projects, by project_id: shown to the owner of this folder, stored nowhere
   * else in clear text.
   */
  api_keys: z.record(z.string(), z.string()).default({}),
  /** In folders of an earlier version: the only API key. */
  api_key: z.string().nullable(),
});

export type Secrets = z.infer<typeof secretsSchema>;

export async function loadSecrets(dataFolder: string): Promise<Secrets> {
  const path = join(dataFolder, SECRETS_FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Advice(
      `${path} cannot be read (${error.code}): run this as the user who created it`,
      {
        cause: error,
      },
    );
  });
  if (text === undefined) return saveSecrets(dataFolder, newSecrets());
  return parseSecrets(path, text);
}

export async function saveSecrets(dataFolder: string, secrets: Secrets): Promise<Secrets> {
  const path = join(dataFolder, SECRETS_FILE);
  await writePrivateFile(path, secrets).catch((error: NodeJS.ErrnoException) => {
    throw new Advice(
      `${path} cannot be written (${error.code}): give this user space and write permission there`,
      { cause: error },
    );
  });
  return secrets;
}

const SECRETS_FILE = 'secrets.json';

function parseSecrets(path: string, text: string): Secrets {
  try {
    return secretsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Advice(
      `${path} is damaged: restore it from a backup, or start with an empty folder (--data)`,
      { cause },
    );
  }
}

function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('hex');
  const key = () => `k1:${randomBytes(32).toString('base64')}`;
  return {
    request_signing_secret: secret(),
    storage_event_secret: secret(),
    storage_url_secret: secret(),
    provider_a_secret: secret(),
    provider_b_secret: secret(),
    key_encryption_keys: key(),
    token_keys: key(),
    api_keys: {},
    api_key: null,
  };
}
