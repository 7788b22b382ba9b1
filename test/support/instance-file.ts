/** Writes the instance file by which commands find a running Tintype, for this process and with the test's values. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { INSTANCE_FILE, type Instance, instanceSchema } from '../../runtime/platform/instance.ts';
import { newSealingKey } from './sealing-keys.ts';

export async function writeInstance(folder: string, fields: Partial<Instance>): Promise<Instance> {
  const instance = anInstance(fields);
  await writeFile(join(folder, INSTANCE_FILE), JSON.stringify(instance));
  return instance;
}

export function anInstance(fields: Partial<Instance> = {}): Instance {
  const words = Object.keys(instanceSchema.shape).map((name) => [name, 'x']);
  const key_encryption_keys = newSealingKey();
  const rest = { pid: process.pid, delivery_port: 1, delivery_scheme: 'http', environment: {} };
  return instanceSchema.parse({
    ...Object.fromEntries(words),
    key_encryption_keys,
    ...rest,
    ...fields,
  });
}
