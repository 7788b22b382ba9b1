/** Stops a server process of a test and removes its folder. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';

export async function endServer(child: ChildProcess, folder: string): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  rmSync(folder, { recursive: true });
}
