#!/usr/bin/env node
/**
 * The `tintype` command: a table of calls, each of which loads its own process and nothing else.
 * Exit codes: 0 success, 1 failure, 2 wrong usage.
 */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import facts from '../package.json' with { type: 'json' };
import { escapeDashedFiles } from './cli/file-arguments.ts';
import { callExamples, exitCodes, jobNames, processSettings } from './cli/help-texts.ts';
import { nameUnknown } from './cli/name-unknown.ts';
import { parseFolder, parsePort, parseSubject, parseTime } from './cli/parse-option.ts';
import { Advice } from './platform/advice.ts';
import { ConfigError, type Environment } from './platform/config.ts';
import type { Instance } from './platform/instance.ts';
import { tuneGarbageCollection } from './platform/tune-garbage-collection.ts';

const DATA_FOLDER = '.tintype';
/** The samples of the clone, whatever the current directory is. */
const SAMPLES = relative('', fileURLToPath(new URL('../config/samples', import.meta.url))) || '.';
const data = [
  '--data <dir>',
  'the data folder of the running Tintype',
  parseFolder,
  DATA_FOLDER,
] as const;
/** For commands that also work on a deployment. */
const dataOrNone = [
  '--data <dir>',
  'the data folder of the running Tintype; if none runs, the environment variables name the installation',
  parseFolder,
  DATA_FOLDER,
] as const;

/** The processes of a deployment; each loads only its own code. */
const processes = {
  api: async (env: Environment) => (await import('./api/main.ts')).apiCommand(env),
  delivery: async (env: Environment) => (await import('./delivery/main.ts')).deliveryCommand(env),
  worker: async (env: Environment) => (await import('./worker/main.ts')).workerCommand(env),
  dispatcher: async (env: Environment) =>
    (await import('./jobs/dispatcher/main.ts')).dispatcherCommand(env),
  operator: async (env: Environment) => (await import('../operator/main.ts')).operatorCommand(env),
};

// The operator handles no images, and its memory is its caches.
if (process.argv[2] !== 'operator') tuneGarbageCollection();

process.stdout.on('error', onStdoutError);
// If the log's reader is gone or its disk is full, the process keeps running and has nowhere to say
// so.
process.stderr.on('error', () => undefined);

const program = new Command('tintype')
  .description('A multi-tenant image service: upload, sanitize, transform, deliver, meter.')
  .version(facts.version)
  .exitOverride()
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'tintype: ')),
  })
  .addHelpText('after', `\n${exitCodes}`)
  .showHelpAfterError('(see tintype --help)');

program
  .command('up')
  .description(
    'runs all of Tintype on this machine until Ctrl-C: API, worker, delivery, jobs and a database',
  )
  .option(
    '--config <dir>',
    'folder whose *.yaml and *.yml files are watched and reconciled, without subfolders',
    SAMPLES,
  )
  .option(
    '--data <dir>',
    'folder for the database, the images and the secrets',
    parseFolder,
    DATA_FOLDER,
  )
  .addOption(portOption('--api-port', { of: 'the API', usual: 8080, variable: 'TINTYPE_API_PORT' }))
  .addOption(
    portOption('--delivery-port', {
      of: 'the delivery hosts',
      usual: 8081,
      variable: 'TINTYPE_DELIVERY_PORT',
    }),
  )
  .option('--json', 'when ready, print addresses and credentials as one line of JSON')
  .action(async (options) => (await import('./standalone/main.ts')).up(options, process.env));

program
  .command('upload <file...>')
  .description(
    'uploads images through the public API, waits until they are ready, and prints their delivery URLs',
  )
  .option(...data)
  .option('--project <slug>', 'the project (default: the one that tintype up prints)')
  .option(
    '--sub <sub>',
    'the sub of the person who owns --project (default: demo, who owns the declared projects)',
    parseSubject,
  )
  .option('--slug <slug>', 'the file slug, for one file (default: made from its name)')
  .action(async (files, options) => {
    const { sessionHeaders } = await import('./standalone/token.ts');
    const { upload } = await import('./cli/upload.ts');
    const mintSession = (instance: Instance) => sessionHeaders(instance, options);
    await upload(files, { ...options, mintSession });
  });

program
  .command('token')
  .description(
    'prints an access token of the local identity provider, and the headers of a dashboard session with it',
  )
  .option(...data)
  .option(
    '--sub <sub>',
    'the sub of the token (default: demo, who owns the declared projects)',
    parseSubject,
  )
  .addOption(staffOption('the token of a member of staff'))
  .option('--json', 'print { token, sub, headers } as one line of JSON')
  .action(async (options) => (await import('./standalone/token.ts')).token(options));

program
  .command('call <method> <path> [json]')
  .description('sends one request to the API as a person, with the required session and signature')
  .option(...data)
  .option(
    '--sub <sub>',
    'the sub of the caller (default: demo, who owns the declared projects)',
    parseSubject,
  )
  .addOption(staffOption('call as a member of staff'))
  .action(async (...[method, path, body, options]) => {
    const { sessionHeaders } = await import('./standalone/token.ts');
    const { call } = await import('./cli/call.ts');
    const mintSession = (instance: Instance) => sessionHeaders(instance, options);
    await call({ method, path, body }, { ...options, mintSession });
  })
  .addHelpText('after', `\n${callExamples}`);

program
  .command('env')
  .description(
    'prints the URLs and the key of the project that tintype up prints, as exports for a shell: eval "$(tintype env)"',
  )
  .option(...data)
  .action(async (options) => (await import('./cli/env.ts')).env(options));

for (const [name, description] of [
  ['api', 'serves the API of a deployment'],
  ['delivery', 'serves images at the delivery hosts of a deployment'],
  ['worker', 'processes uploads and renders images of a deployment'],
  [
    'dispatcher',
    'runs the jobs of a deployment that run more often than hourly, and sends webhooks and purges',
  ],
  ['operator', 'reconciles what a Kubernetes cluster declares: rows, routes and installations'],
] as const) {
  program
    .command(name)
    .description(description)
    .action(() => processes[name](process.env))
    .addHelpText('after', `\n${processSettings}`);
}

program
  .command('migrate')
  .description('migrates the database of TINTYPE_DATABASE_URL to this version')
  .action(async () => (await import('./db/main.ts')).migrateCommand(process.env))
  .addHelpText('after', `\n${processSettings}`);

program
  .command('doctor')
  .description(
    'checks everything that Tintype needs, from the database to the CDN, and says what is wrong and what to do',
  )
  .option(...dataOrNone)
  .option('--fix-cors', 'write the rule that lets browsers upload to the ingest bucket')
  .option('--json', 'print { ok, checks } as one line of JSON')
  .action(async (options) =>
    (await import('./doctor/main.ts')).doctorCommand(options, process.env),
  );

program
  .command('job <name>')
  .description('runs one job now; daily-charge also runs for each earlier day that it missed')
  .option(
    '--at <time>',
    'run hourly-rollup, daily-charge or reconciliation as of this time: a day in UTC or ISO 8601, such as 2026-11-20T00:20:00Z',
    parseTime,
  )
  .option(...dataOrNone)
  .action(async (name, options) =>
    (await import('./jobs/main.ts')).jobCommand(name, options, process.env),
  )
  .addHelpText('after', `\n${jobNames()}`);

for (const command of program.commands) {
  command.showHelpAfterError(`(see tintype ${command.name()} --help)`);
}

try {
  const names = program.commands.map((command) => command.name());
  await program.parseAsync(nameUnknown(escapeDashedFiles(process.argv), names));
} catch (error) {
  process.exitCode = report(error);
}

/**
 * If the reader of stdout has had enough, as `head`, or its terminal was closed, the command still
 * ends in its own way.
 */
function onStdoutError({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' || code === 'EIO' || process.exitCode === 1) return;
  process.exitCode = 1;
  process.stderr.write(`tintype: the output cannot be written (${code}): free space there\n`);
}

/** Prints the error as briefly as is useful and returns the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const isExpected = error instanceof Advice || error instanceof ConfigError;
  process.stderr.write(`tintype: ${isExpected ? error.message : print(error)}\n`);
  return error instanceof Advice ? error.exitCode : 1;
}

function print(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The variable of a deployment's port sets it too; an empty one counts as unset. */
function portOption(flag: string, { of, usual, variable }: PortFacts): Option {
  return new Option(`${flag} <port>`, `port of ${of}`)
    .argParser((text: string) => (text === '' ? usual : parsePort(text)))
    .default(usual)
    .env(variable);
}

type PortFacts = { of: string; usual: number; variable: string };

/** A staff token has a subject of its own, so it excludes --sub. */
function staffOption(description: string): Option {
  return new Option('--staff', description).conflicts('sub');
}
