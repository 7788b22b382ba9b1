/** Waits until a server process that a test has just started serves, and fails if it exits first. */
import type { ChildProcess } from 'node:child_process';
import { untilFound } from './until-found.ts';

/** `look` returns a value once the server serves; `end` stops a server that does not. */
export async function untilServing<Found>(
  server: ChildProcess,
  {
    name,
    look,
    end,
  }: { name: string; look: () => Promise<Found | false | undefined>; end?: () => Promise<void> },
): Promise<Found> {
  let said = '';
  server.stderr?.on('data', (part) => {
    said += String(part);
  });
  try {
    return await untilFound(`${name} serves`, () => {
      const { exitCode, signalCode } = server;
      if (exitCode === null && signalCode === null) return look();
      throw new Error(`${name} ended with ${exitCode ?? signalCode}: ${said}`);
    });
  } catch (error) {
    await end?.();
    throw error;
  }
}
