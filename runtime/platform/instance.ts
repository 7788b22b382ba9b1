/**
 * How a command finds the Tintype that runs on this machine: the file that Tintype writes when it is ready
 * (`<data>/instance.json`, mode 0600, removed at the stop; written again when the folder declares another project).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Advice } from './advice.ts';
import { isProcessAlive } from './is-process-alive.ts';

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
  /**
   * The variables that name what it reaches outside: storage, broker, CDN, scanner and the like.
   */
  environment: z.record(z.string(), z.string()),
  organization_id: z.string(),
  project_slug: z.string(),
  api_key: z.string(),
});

export type Instance = z.infer<typeof instanceSchema>;

export const INSTANCE_FILE = 'instance.json';

/** The instance of a data folder, or the advice when none runs there. */
export async function findInstance(dataFolder: string): Promise<Instance | Advice> {
  const path = join(dataFolder, INSTANCE_FILE);
  const text = await readText(path);
  if (text === undefined) {
    return new Advice(
      `no Tintype runs on ${dataFolder}: start it with \`make up\`, or name its folder with --data`,
    );
  }
  const instance = parse(path, text);
  if (isProcessAlive(instance.pid)) return instance;
  return new Advice(
    `the Tintype on ${dataFolder} has stopped (process ${instance.pid} is gone): start it with \`make up\``,
  );
}

/**
 * For commands that also accept an installation named by the environment, when there is neither.
 */
export function noInstanceOrConfig({ message }: Advice): Advice {
  return new Advice(
    `TINTYPE_DATABASE_URL is not set, and ${message}; for a deployment, set the variables that its processes have, or run this in one of its pods`,
  );
}

/** For commands that need an instance. */
export async function requireInstance(dataFolder: string): Promise<Instance> {
  const found = await findInstance(dataFolder);
  if (found instanceof Advice) throw found;
  return found;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Advice(`${path} cannot be read (${code}): run this as the user who started Tintype`, {
      cause,
    });
  }
}

function parse(path: string, text: string): Instance {
  try {
    return instanceSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Advice(
      `${path} is of another version of Tintype, or damaged: stop that Tintype and start it again with \`make up\``,
      { cause },
    );
  }
}

/** The sample project, for commands that need one. */
export function sampleProject(instance: Instance): { slug: string; key: string } {
  const { project_slug: slug, api_key: key } = instance;
  if (slug !== '') return { slug, key };
  throw new Advice('the folder of YAML declares no active project: add a Project document');
}
