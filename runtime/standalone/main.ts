/**
 * `tintype up`: all of Tintype on one machine. One Node process runs API, delivery, worker and jobs; its only children
 * are decoders, renderers and PostgreSQL.
 */
import { readdir } from 'node:fs/promises';
import { Advice } from '../platform/advice.ts';
import type { Environment } from '../platform/config.ts';
import { LOOPBACK, reservePort } from '../platform/http/listen.ts';
import type { Instance } from '../platform/instance.ts';
import { type Lifecycle, runProcess } from '../platform/lifecycle.ts';
import { createLog, type Log, type LogLevel } from '../platform/log.ts';
import { warnOfUnknownVariables } from '../platform/unknown-variables.ts';
import { printBanner } from './banner.ts';
import { claimDataFolder } from './data-folder.ts';
import { givenConfig } from './environment.ts';
import { createInstanceFile } from './instance-file.ts';

export type UpOptions = {
  config: string;
  data: string;
  apiPort: number;
  deliveryPort: number;
  json?: true;
};

export async function up(options: UpOptions, env: Environment): Promise<void> {
  const log = createLog({
    level: logLevel(options, env),
    name: 'tintype',
    format: options.json === true ? 'json' : 'text',
    destination: process.stderr,
  });
  warnOfUnknownVariables(env, log);
  await runProcess({ log }, (lifecycle) => start({ options, env, log, lifecycle }));
}

/**
 * The environment's level; by default a person sees progress, and a program (`--json`) only
 * problems.
 */
function logLevel({ json }: UpOptions, env: Environment): LogLevel {
  if (env['TINTYPE_LOG_LEVEL']) return givenConfig(env).logLevel;
  return json === true ? 'warn' : 'info';
}

type Start = { options: UpOptions; env: Environment; log: Log; lifecycle: Lifecycle };

async function start({ options, env, log, lifecycle }: Start): Promise<void> {
  const started = performance.now();
  if (options.apiPort !== 0 && options.apiPort === options.deliveryPort) {
    throw new Advice(
      'API and delivery need two ports: name another with --api-port or --delivery-port',
      { exitCode: 2 },
    );
  }
  await requireReadable(options.config);
  const folder = await claimDataFolder(options.data);
  lifecycle.onStop('data folder', folder.release);
  const hold = async (port: number, option: string) => {
    const both = `${option} PORT (make up ARGS="${option} PORT")`;
    const held = await reservePort({ port, option: both, host: LOOPBACK });
    lifecycle.onStop('port', held.release);
    return held;
  };
  const ports = {
    api: await hold(options.apiPort, '--api-port'),
    delivery: await hold(options.deliveryPort, '--delivery-port'),
  };
  const file = createInstanceFile(folder.path);
  let isAnnounced = false;
  const onInstance = async (instance: Instance) => {
    await file.write(instance);
    if (isAnnounced) return logProjectChange(log, instance);
    isAnnounced = true;
    lifecycle.onStop('instance file', file.remove);
    announce(options, instance, Math.round(performance.now() - started));
  };
  // Loading it takes most of the time until here, and a start that is refused does not need it.
  const { startParts } = await import('./parts.ts');
  await startParts({
    ...{ env, log, lifecycle, ports, onInstance },
    dataFolder: folder.path,
    configFolder: options.config,
  });
}

function logProjectChange(log: Log, { project_slug }: Instance): void {
  if (project_slug === '')
    log.info('tintype upload and env have no project: the folder declares none');
  else log.info('tintype upload and env now use this project', { project_slug });
}

/** Runs first, so that nothing has been started when the folder is missing. */
async function requireReadable(configFolder: string): Promise<void> {
  await readdir(configFolder).catch((cause: NodeJS.ErrnoException) => {
    throw new Advice(
      `${configFolder} is not a folder that can be read (${cause.code}): name a folder of YAML with --config`,
      { cause, exitCode: 2 },
    );
  });
}

function announce({ json, data }: UpOptions, instance: Instance, startedMs: number): void {
  if (json === true) process.stdout.write(`${JSON.stringify(instance)}\n`);
  else printBanner(process.stdout, { instance, data, startedMs });
}
