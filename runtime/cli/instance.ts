/**
 * How a command finds the Tintype that runs on this machine: the file that it wrote when it was ready
 * (`<data>/instance.json`, mode 0600, removed at the stop).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Advice } from '../platform/advice.ts';
import { isAlive } from '../platform/is-alive.ts';

export const instanceSchema = z.object({
  pid: z.number(),
  api_url: z.string(),
  delivery_root_domain: z.string(),
  delivery_port: z.number(),
  delivery_scheme: z.string(),
  database_url: z.string(),
  issuer: z.string(),
  request_signing_secret: z.string(),
  storage_event_secret: z.string(),
  provider_a_secret: z.string(),
  provider_b_secret: z.string(),
  provider_b_mode: z.string(),
  key_encryption_keys: z.string(),
  token_keys: z.string(),
  /** The variables that name what it reaches outside: storage, broker, CDN, scanner and the like. */
  environment: z.record(z.string(), z.string()),
  organization_id: z.string(),
  project_slug: z.string(),
  api_key: z.string(),
});

export type Instance = z.infer<typeof instanceSchema>;

export const INSTANCE_FILE = 'instance.json';

export async function findInstance(dataFolder: string): Promise<Instance> {
  const path = join(dataFolder, INSTANCE_FILE);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT'
      ? new Advice(
          `no Tintype runs on ${dataFolder}: start it with \`make up\`, or name its folder with --data`,
        )
      : new Advice(
          `${path} cannot be read (${cause.code}): run this as the user who started Tintype`,
          { cause },
        );
  });
  const instance = instanceSchema.parse(JSON.parse(text));
  if (!isAlive(instance.pid)) {
    throw new Advice(
      `the Tintype on ${dataFolder} has stopped (process ${instance.pid} is gone): start it with \`make up\``,
    );
  }
  return instance;
}

/** The sample project, for the calls that need one. */
export function sampleProject(instance: Instance): { slug: string; key: string } {
  const { project_slug: slug, api_key: key } = instance;
  if (slug !== '') return { slug, key };
  throw new Advice(
    'the folder of YAML declares no active project: add a Project document and start again',
  );
}
