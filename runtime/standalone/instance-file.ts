/** `<data>/instance.json`: how commands find this Tintype; there while it is ready, readable by its owner only. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { INSTANCE_FILE, type Instance } from '../platform/instance.ts';
import { writePrivateFile } from './private-file.ts';

/** Once it is removed it is not written any more. */
export function keepInstanceFile(dataFolder: string) {
  const file = join(dataFolder, INSTANCE_FILE);
  let isGone = false;
  let writing = Promise.resolve();
  return {
    /** One after the other, as each goes through the same temporary file. */
    write: (instance: Instance): Promise<void> => {
      const next = async () => {
        if (!isGone) await writePrivateFile(file, instance);
      };
      writing = writing.then(next, next);
      return writing;
    },
    remove: async (): Promise<void> => {
      isGone = true;
      await writing.catch(() => undefined);
      await rm(file, { force: true });
    },
  };
}
