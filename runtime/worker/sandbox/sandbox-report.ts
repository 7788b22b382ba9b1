/** The layers between a hostile image and this machine, as `tintype doctor` prints them. */
import { createLog, type Log } from '../../platform/log.ts';
import { findIsolation } from './isolation.ts';
import { createSandbox } from './sandbox.ts';

export type SandboxLayer = { name: string; in_force: boolean; advice?: string };

/** Tested, not assumed: a program was started behind each layer reported as active. */
export async function sandboxReport(): Promise<SandboxLayer[]> {
  const isolation = findIsolation();
  return [
    {
      name: 'a decoder process of its own for each slot, killed on time and memory',
      in_force: true,
    },
    {
      name: 'no file, process or inspector for its JavaScript (Node permission model)',
      in_force: true,
    },
    layer('its own user, processes, network and files (bubblewrap)', {
      in_force: isolation.has_name_spaces,
      advice:
        'Install bubblewrap (Debian: apt-get install bubblewrap) and allow unprivileged user namespaces; in a cluster, let the pod’s network policy and read-only root file system take its place.',
    }),
    layer('system calls filtered (seccomp)', {
      in_force: isolation.filter !== null,
      advice:
        'Install bubblewrap, on x64 or arm64; in a cluster, set the seccomp profile RuntimeDefault.',
    }),
    layer('no new privileges', {
      in_force: isolation.has_no_new_privileges,
      advice:
        'Install bubblewrap or util-linux (setpriv); in a cluster, set allowPrivilegeEscalation: false.',
    }),
    layer('resource limits (memory, open files, no written files, no core files)', {
      in_force: isolation.has_resource_limits,
      advice: 'Install util-linux (prlimit).',
    }),
    layer('ends with its worker, however that ends', {
      in_force: isolation.ends_with_parent,
      advice: 'Install util-linux (setpriv); in a cluster it ends with its pod.',
    }),
  ];
}

/** Called when a process that decodes starts, so that missing layers are reported unasked. */
export async function warnOfMissingLayers(log: Log): Promise<void> {
  const { has_name_spaces, has_no_new_privileges, has_resource_limits, filter } = findIsolation();
  const isBare = !(has_name_spaces || has_no_new_privileges || has_resource_limits || filter);
  const missing = (await sandboxReport()).filter(({ in_force }) => !in_force);
  const fields = { reason: `not in force: ${missing.map(({ name }) => name).join('; ')}` };
  if (isBare) {
    log.error(
      'THE KERNEL ISOLATES NO DECODER: a picture that breaks one can do whatever this user can. Only Node’s permission model and the limits on time and memory remain. `tintype doctor` says what to install',
      fields,
    );
  } else if (missing.length > 0) {
    log.warn(
      'decoders run without some layers of their isolation: `tintype doctor` says what to install',
      fields,
    );
  }
}

function layer(
  name: string,
  { in_force, advice }: Required<Omit<SandboxLayer, 'name'>>,
): SandboxLayer {
  return in_force ? { name, in_force } : { name, in_force, advice };
}

/** An image of one pixel. */
const SAMPLE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** Decodes the sample in a child process, as a worker does. Throws the child's failure. */
export async function tryDecoder(): Promise<void> {
  const sandbox = createSandbox({
    slots: 1,
    wall_clock_ms: 20_000,
    memory_bytes: 1_000_000_000,
    jobs_per_child: 1,
    log: createLog({ level: 'silent', name: 'doctor' }),
  });
  try {
    const facts = { content_type: 'image/png' };
    const { width } = (await sandbox.run({ kind: 'ingest', facts, parts: [SAMPLE] })).facts;
    if (width !== 1) throw new Error(`it found a picture ${String(width)} pixels wide, not 1`);
  } finally {
    await sandbox.close();
  }
}
