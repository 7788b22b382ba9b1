/** Asks a worker, through its metrics, how many messages it is working on. */
import { readBounded } from '../../runtime/platform/http/read-bounded.ts';
import { ports } from '../image-service/render/environment.ts';
import type { ScrapePod } from './read-load.ts';

const ANSWER_MS_MAX = 2_000;
/** A worker's metrics take some 50 kB. */
const ANSWER_BYTES_MAX = 1_000_000;

export const scrapePod: ScrapePod = ({ status }) => {
  const { podIP = '' } = status ?? {};
  const host = podIP.includes(':') ? `[${podIP}]` : podIP;
  return readInHand(`http://${host}:${ports.metrics}/metrics`);
};

export async function readInHand(url: string): Promise<number | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const answer = await fetch(url, { signal, redirect: 'error' });
    const lines = [
      ...(await readBounded(answer, ANSWER_BYTES_MAX)).matchAll(
        /^tintype_queue_in_hand\{[^}]*\} (\d+)$/gm,
      ),
    ];
    if (!answer.ok || lines.length === 0) return undefined;
    return lines.reduce((total, [, count]) => total + Number(count), 0);
  } catch {
    return undefined;
  }
}
