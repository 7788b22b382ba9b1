/** Ends a server that a test started as a process, and removes the folder that was its own. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';

export async function endServer(child: ChildProcess, folder: string): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  rmSync(folder, { recursive: true });
}
