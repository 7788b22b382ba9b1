/**
 * Default resources of each process. Measured (docs/performance.md): a server has 76 to 99 MB at rest, a worker with
 * its decoders 189; an upload takes up to 421 MB more, its slot may have 2 GiB, a render up to 388; delivery keeps 64
 * MiB of images.
 */

import { parseBytes, printBytes, printCpu } from '../../quantity.ts';
import type { Process } from '../installation.ts';
import type { ImageServiceSpec } from '../schema.ts';

type Amounts = { cpu?: string | undefined; memory?: string | undefined };
type Size = { cpu: string; memory: string; memory_max: string; heap: 'alone' | 'beside decoders' };

const sizes: Record<Process, Size> = {
  api: { cpu: '100m', memory: '192Mi', memory_max: '768Mi', heap: 'alone' },
  delivery: { cpu: '100m', memory: '256Mi', memory_max: '768Mi', heap: 'alone' },
  dispatcher: { cpu: '50m', memory: '160Mi', memory_max: '512Mi', heap: 'alone' },
  'worker-ingest': { cpu: '500m', memory: '768Mi', memory_max: '4Gi', heap: 'beside decoders' },
  'worker-render': { cpu: '500m', memory: '512Mi', memory_max: '2Gi', heap: 'beside decoders' },
  migrate: { cpu: '50m', memory: '128Mi', memory_max: '512Mi', heap: 'alone' },
  job: { cpu: '50m', memory: '160Mi', memory_max: '768Mi', heap: 'alone' },
};

/** The process of the embedded model has 250 MB. */
const WITH_MODEL: Size = { ...sizes.dispatcher, memory: '416Mi', memory_max: '768Mi' };

function sizeOf({ scanner }: ImageServiceSpec, process: Process): Size {
  return process === 'dispatcher' && scanner?.kind === 'Embedded' ? WITH_MODEL : sizes[process];
}

/** No CPU limit: a throttled process answers late, and on a busy node it waits anyway. */
export function resourcesOf(spec: ImageServiceSpec, process: Process) {
  const { requests, limits } = declared(spec, process);
  const size = sizeOf(spec, process);
  const memory = printBytes(limits?.memory ?? larger(size.memory_max, requests?.memory));
  const least = printBytes(requests?.memory ?? smaller(size.memory, memory));
  return {
    requests: { cpu: printCpu(requests?.cpu ?? smallerCpu(size.cpu, limits?.cpu)), memory: least },
    limits: limits?.cpu === undefined ? { memory } : { cpu: printCpu(limits.cpu), memory },
  };
}

/** V8's heap limit in MiB: the rest is for buffers, code, and decoders where there are any. */
export function heapOf(spec: ImageServiceSpec, process: Process): number {
  const mebibytes = memoryOf(spec, process) / 2 ** 20;
  const share = sizes[process].heap === 'alone' ? 0.6 : 0.2;
  return Math.max(64, Math.floor(mebibytes * share));
}

/** The total memory for uploads decoded concurrently: 2 GiB per slot, at most 60 % of the pod. */
export function ingestMemoryOf(spec: ImageServiceSpec): number {
  const slots = slotsOf(spec, 'ingest');
  return Math.floor(Math.min(slots * 2 ** 31, memoryOf(spec, 'worker-ingest') * 0.6));
}

/** With one slot, an upload that hangs would block all others of its pod. */
const SLOTS = 2;

export function slotsOf(spec: ImageServiceSpec, pool: 'ingest' | 'render'): number {
  return spec.workers?.[pool]?.slots ?? SLOTS;
}

function memoryOf(spec: ImageServiceSpec, process: Process): number {
  return parseBytes(resourcesOf(spec, process).limits.memory);
}

type Declared = { requests?: Amounts | undefined; limits?: Amounts | undefined };

function declared(spec: ImageServiceSpec, process: Process): Declared {
  if (process === 'migrate' || process === 'job') return {};
  if (process === 'worker-ingest') return spec.workers?.ingest?.resources ?? {};
  if (process === 'worker-render') return spec.workers?.render?.resources ?? {};
  return spec[process]?.resources ?? {};
}

function smaller(one: string, other: string): string {
  return parseBytes(one) <= parseBytes(other) ? one : other;
}

function larger(one: string, other: string | undefined): string {
  return other === undefined || parseBytes(other) <= parseBytes(one) ? one : other;
}

function smallerCpu(one: string, other: string | undefined): string {
  if (other === undefined) return one;
  const millis = (cpu: string) =>
    cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
  return millis(one) <= millis(other) ? one : other;
}
