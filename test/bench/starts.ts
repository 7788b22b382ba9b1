/** The time until `tintype up` is ready, with an empty and with an existing data folder. */
import { makeFolder, removeFolder, startTintype } from '../contract/support/tintype.ts';
import { type Figure, figure } from './figure.ts';

const RUNS = 3;

export async function measureStarts(): Promise<Figure[]> {
  const first: number[] = [];
  const later: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const data = await makeFolder();
    first.push(await measureStart(data));
    later.push(await measureStart(data));
    await removeFolder(data);
  }
  return [
    figure('first start of tintype up', 's', first),
    figure('later start of tintype up', 's', later),
  ];
}

async function measureStart(data: string): Promise<number> {
  const started = performance.now();
  const tintype = await startTintype({ data });
  const seconds = (performance.now() - started) / 1000;
  await tintype.end('SIGTERM');
  return seconds;
}
