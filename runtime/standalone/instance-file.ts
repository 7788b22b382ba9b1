/** `<data>/instance.json`: how commands find this Tintype. Present while it is ready; readable by its owner only. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { INSTANCE_FILE, type Instance } from '../platform/instance.ts';
import { writePrivateFile } from './private-file.ts';

/** After removal the file is not written again. */
export function createInstanceFile(dataFolder: string) {
  const file = join(dataFolder, INSTANCE_FILE);
  let isGone = false;
  let writing = Promise.resolve();
  return {
    /** One write at a time, because all use the same temporary file. */
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
