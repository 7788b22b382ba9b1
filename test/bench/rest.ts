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

const GROUPS = ['the server', 'decoders', 'PostgreSQL'] as const;

type Group = (typeof GROUPS)[number];

export async function measureRest({ instance: { pid } }: Tintype): Promise<Figure[]> {
  const { pss_bytes, processes } = await measureAtRest(pid);
  const each = measureEach(pid);
  return [
    figure('memory at rest, all processes of tintype up', 'MB', [pss_bytes / 1e6]),
    ...GROUPS.map((group) => {
      const own = each.filter((one) => groupOf(one, pid) === group);
      const bytes = own.reduce((sum, one) => sum + one.pss_bytes, 0);
      return figure(`… ${group} (${own.length})`, 'MB', [bytes / 1e6]);
    }),
    figure('processes at rest', '', [processes]),
    ...(await measureDeployment()),
  ];
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
