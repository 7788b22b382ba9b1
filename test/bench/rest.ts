/** The memory of idle processes: of everything in one process, and of each process of a deployment. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../runtime/standalone/postgres.ts';
import { PROCESSES, startDeployment } from '../contract/support/deployment.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import type { TestDatabase } from '../support/database.ts';
import { startRabbitServer } from '../support/rabbitmq-server.ts';
import { type Figure, figure } from './figure.ts';
import { measureAtRest, measureEach } from './process-tree.ts';

export const GROUPS = ['the server', 'decoders', 'PostgreSQL'] as const;

export type Group = (typeof GROUPS)[number];

export async function measureRest({ instance: { pid } }: Tintype): Promise<Figure[]> {
  const { pss_bytes, processes } = await measureAtRest(pid);
  const groups = measureGroups(pid);
  return [
    figure('memory at rest, all processes of tintype up', 'MB', [pss_bytes / 1e6]),
    ...GROUPS.map((group) => {
      const { count, bytes } = groups[group];
      return figure(`… ${group} (${count})`, 'MB', [bytes / 1e6]);
    }),
    figure('processes at rest', '', [processes]),
    ...(await measureDeployment()),
  ];
}

export type Groups = Record<Group, { count: number; bytes: number }>;

/** The processes of `tintype up` and their memory. */
export function measureGroups(rootPid: number): Groups {
  const none = () => ({ count: 0, bytes: 0 });
  const groups: Groups = { 'the server': none(), decoders: none(), PostgreSQL: none() };
  for (const one of measureEach(rootPid)) {
    const group = groups[groupOf(one, rootPid)];
    group.count += 1;
    group.bytes += one.pss_bytes;
  }
  return groups;
}

function groupOf({ pid, command }: { pid: number; command: string }, rootPid: number): Group {
  if (pid === rootPid) return 'the server';
  return /postgres/.test(command) ? 'PostgreSQL' : 'decoders';
}

async function startDatabase(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-rest-bench-'));
  const { url, stop } = await startPostgres({ folder });
  return {
    url,
    drop: async () => {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function measureDeployment(): Promise<Figure[]> {
  const deployment = await startDeployment((usual) => usual, {
    createDatabase: startDatabase,
    openBroker: startRabbitServer,
  });
  try {
    const figures: Figure[] = [];
    for (const name of PROCESSES) {
      const { pss_bytes, processes } = await measureAtRest(deployment.processes[name].pid);
      figures.push(
        figure(`memory at rest of tintype ${name} (${processes})`, 'MB', [pss_bytes / 1e6]),
      );
    }
    return figures;
  } finally {
    await deployment.stop();
  }
}
