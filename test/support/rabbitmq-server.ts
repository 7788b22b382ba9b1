/**
 * Starts a real RabbitMQ from Debian's package on free loopback ports, in a temporary folder, and stops it together
 * with its epmd.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { type Leftovers, removeLeftovers } from './leftovers.ts';
import { untilServing } from './until-serving.ts';

export type RabbitServer = {
  url: string;
  /** Stops the broker gracefully. */
  kill(): Promise<void>;
  /** Kills it with SIGKILL. What it confirmed before is on disk. */
  crash(): Promise<void>;
  /** Starts it again on the same port with its stored data. */
  start(): Promise<void>;
  /** Freezes the leader of this quorum queue, so that it does not respond. */
  freeze(queue: string): Promise<void>;
  /** Raises the memory alarm, which makes the broker stop reading from publishers. */
  alarm(): Promise<void>;
  calm(): Promise<void>;
  stop(): Promise<void>;
};

const BIN = '/usr/lib/rabbitmq/bin';
const FOLDER_PREFIX = 'tintype-rabbitmq-';
/** The broker and epmd both have a HOME within the folder. */
const LEFTOVERS: Leftovers = {
  prefix: FOLDER_PREFIX,
  markOf: (folder) => `HOME=${join(folder, 'home')}`,
};
const STARTS_MAX = 3;
/**
 * How often RabbitMQ checks each virtual host: the number of its net_ticktime, taken for
 * milliseconds. By default 60, which takes 1 % of a core for 32 unused virtual hosts. Ticks are for
 * clusters only.
 */
const VIRTUAL_HOST_CHECK_MS = 60_000;

/**
 * Retries with other ports, because another program may take a free port before the broker listens.
 */
export async function startRabbitServer(
  /** Created next to the default one, for the same user. */
  virtualHosts: readonly string[] = [],
): Promise<RabbitServer> {
  if (!existsSync(`${BIN}/rabbitmq-server`)) {
    throw new Error('RabbitMQ is not installed: make test installs it from Debian');
  }
  await removeLeftovers(LEFTOVERS);
  for (let starts = 1; ; starts += 1) {
    try {
      return await startOnFreePorts(virtualHosts);
    } catch (error) {
      if (starts === STARTS_MAX) throw error;
    }
  }
}

async function startOnFreePorts(virtualHosts: readonly string[]): Promise<RabbitServer> {
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  await writeFile(join(folder, 'owner.pid'), String(process.pid));
  for (const name of ['home', 'mnesia', 'log']) mkdirSync(join(folder, name));
  const [port, distribution, epmd] = [await freePort(), await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH ?? '',
    // The next run finds leftovers of a killed run by this.
    TMPDIR: tmpdir(),
    HOME: join(folder, 'home'),
    RABBITMQ_NODENAME: `tintype-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    ERL_CRASH_DUMP_SECONDS: '0',
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
  };
  const definitions = join(folder, 'definitions.json');
  await writeFile(definitions, JSON.stringify(define(['/', ...virtualHosts])));
  const settings = [`load_definitions = ${definitions}`, `net_ticktime = ${VIRTUAL_HOST_CHECK_MS}`];
  await writeFile(env.RABBITMQ_CONFIG_FILE, `${settings.join('\n')}\n`);
  let server: ChildProcess | undefined;
  const start = async () => {
    // A killed broker leaves a crash dump in its working folder.
    server = spawn(`${BIN}/rabbitmq-server`, [], { env, cwd: folder, stdio: 'ignore' });
    await untilServing(server, { name: 'RabbitMQ', look: () => greets(port) });
  };
  const end = async (signal: NodeJS.Signals) => {
    const running = server;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    // The Erlang VM of the broker runs in its own session, so it is signaled by its pid file.
    process.kill(Number(await readFile(env.RABBITMQ_PID_FILE, 'utf8')), signal);
    await ended;
  };
  const kill = () => end('SIGTERM');
  const stop = async () => {
    // Its data is thrown away.
    await end('SIGKILL');
    await endEpmd(epmd);
    await rm(folder, { recursive: true, force: true });
  };
  await start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  /** Evaluates one Erlang expression in the broker. rabbitmqctl would start a VM of its own. */
  const evaluate = async (expression: string) => {
    const asking = promisify(execFile)('erl_call', ['-n', env.RABBITMQ_NODENAME, '-e'], { env });
    asking.child.stdin?.end(`${expression}.\n`);
    const { stdout } = await asking;
    if (!stdout.startsWith('{ok, ')) throw new Error(`${expression} answered ${stdout}`);
  };
  const limitMemory = (share: number) =>
    evaluate(`ok = vm_memory_monitor:set_vm_memory_high_watermark(${share})`);
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    kill,
    crash: () => end('SIGKILL'),
    start,
    freeze: (queue) => evaluate(`ok = sys:suspend(whereis('%2F_${queue}'))`),
    alarm: () => limitMemory(0.0001),
    calm: () => limitMemory(0.4),
    stop,
  };
}

function define(virtualHosts: readonly string[]) {
  const everything = { configure: '.*', write: '.*', read: '.*' };
  return {
    users: [{ name: 'guest', password: 'guest', tags: 'administrator' }],
    vhosts: virtualHosts.map((name) => ({ name })),
    permissions: virtualHosts.map((vhost) => ({ user: 'guest', vhost, ...everything })),
  };
}

const PROTOCOL_HEADER = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** The broker listens before it can serve, so this waits for the first frame of the protocol. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(PROTOCOL_HEADER));
    socket.setTimeout(1000, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false)).once('close', () => resolve(false));
  });
}

/** epmd outlives the broker. Kills the one on this port, by its process id. */
async function endEpmd(port: number): Promise<void> {
  const { stdout } = await promisify(execFile)('pgrep', ['-x', 'epmd']).catch(() => ({
    stdout: '',
  }));
  for (const pid of stdout.split('\n').filter((line) => line !== '')) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`ERL_EPMD_PORT=${port}\0`)) process.kill(Number(pid), 'SIGKILL');
  }
}
