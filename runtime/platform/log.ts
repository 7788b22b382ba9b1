/**
 * Logging over pino: constant messages, facts as fields. Only the fields listed in `logFields` are ever printed, and
 * text that looks like a credential is masked inside any value, so that a secret cannot be logged by accident.
 */
import { pino } from 'pino';
import { isServiceUnavailable } from '../core/outage.ts';
import { textDestination } from './log-text.ts';
import { reasonOf } from './reason-of.ts';
import { currentTraceContext } from './trace-context.ts';

export type Log = {
  debug<Fields extends object>(message: string, fields?: Listed<Fields>): void;
  info<Fields extends object>(message: string, fields?: Listed<Fields>): void;
  warn<Fields extends object>(message: string, fields?: Listed<Fields>): void;
  error<Fields extends object>(message: string, fields?: Listed<Fields>): void;
  /** A log that adds these fields to every line. */
  child(fields: LogFields): Log;
};

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
/** Rejects unlisted fields at compile time, also those of an existing or spread object. */
type Listed<Fields> = Fields & Record<Exclude<keyof Fields, LogFieldName>, never>;
export type LogFields = { [name in LogFieldName]?: unknown };
export type LogDestination = { write(line: string): unknown };
export type LogFieldName = (typeof logFields)[number];

/** Every field that a line may carry. Other fields are printed as `[hidden]`. */
const logFields = [
  'error',
  'request_id',
  'trace_id',
  'method',
  'path',
  'route',
  'host',
  'status',
  'code',
  'duration_ms',
  'bytes',
  'organization_id',
  'project_id',
  'project_slug',
  'upload_id',
  'file_id',
  'file_slug',
  'revision',
  'key_id',
  'kid',
  'library_id',
  'check_id',
  'incident_id',
  'delivery_id',
  'event',
  'content_type',
  'size_bytes',
  'width',
  'height',
  'error_code',
  'attempt',
  'attempts',
  'variable',
  'job',
  'run_id',
  'at',
  'until',
  'counts',
  'count',
  'day',
  'hour',
  'credits',
  'balance',
  'queue',
  'rate',
  'service',
  'slots',
  'waiting',
  'bucket',
  'object_key',
  'folder',
  'file',
  'line',
  'column',
  'problem',
  'kind',
  'name',
  'namespace',
  'generation',
  'reason',
  'changes',
  'pid',
  'signal',
  'exit_code',
  'stderr',
  'memory_bytes',
  'version',
  'migration',
  'migrations',
  'url',
  'address',
  'port',
  'watch_port',
  'dependency',
  'part',
  'step',
  'plan',
  'cached',
  'spool',
  'sequence',
  'advice',
] as const;

export function createLog(options: {
  level: LogLevel;
  name: string;
  /** `text`: for a person at a terminal; default `json`. */
  format?: 'json' | 'text';
  destination?: LogDestination;
}): Log {
  const out = options.destination ?? process.stdout;
  const target = options.format === 'text' ? textDestination(out) : out;
  const logger = pino(
    {
      level: options.level,
      base: { process: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void target.write(line) },
  );
  return wrap(logger);
}

type Level = Exclude<LogLevel, 'silent'>;
type Printer = Record<Level, (fields: object, message: string) => void> & {
  isLevelEnabled(level: Level): boolean;
  child(fields: Record<string, unknown>): Printer;
};

/** `bound`: the fields in every line of this logger. */
function wrap(logger: Printer, bound: LogFields = {}): Log {
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      // Masking costs time, and strangers control what each delivery logs.
      if (!logger.isLevelEnabled(level)) return;
      logger[level](printableFields({ ...traceFields(bound), ...fields }), message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(logger.child(printableFields(fields)), { ...bound, ...fields }),
  };
}

/** The ids of the request and its trace. Each once per line: pino would print duplicates. */
function traceFields(bound: LogFields): LogFields {
  const { request_id, span } = currentTraceContext();
  const fields = { request_id, trace_id: span?.trace_id };
  return bound.request_id === undefined ? fields : { trace_id: fields.trace_id };
}

const known: ReadonlySet<string> = new Set(logFields);

function printableFields(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, known.has(name) ? printable(value, 0) : '[hidden]']),
  );
}

const NESTING_MAX = 4;
const ITEMS_MAX = 50;

function printable(value: unknown, depth: number, detail: Detail = 'whole'): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return printableError(value, depth, detail);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString();
  if (value instanceof URL) return maskSecrets(value.href);
  if (depth >= NESTING_MAX || ArrayBuffer.isView(value)) return '[object]';
  if (Array.isArray(value)) {
    return value.slice(0, ITEMS_MAX).map((item) => printable(item, depth + 1));
  }
  return printableObject(value, depth);
}

/** Shows only numbers, booleans, null and known names; the rest of an object could be secret. */
function printableObject(value: object, depth: number): Record<string, unknown> {
  const isShown = ([name, item]: [string, unknown]) =>
    known.has(name) || typeof item === 'number' || typeof item === 'boolean' || item === null;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ITEMS_MAX)
      .map((entry) => [entry[0], isShown(entry) ? printable(entry[1], depth + 1) : '[hidden]']),
  );
}

/**
 * Name, message, code and stack, with the cause; never an error's other properties. For an outage
 * or overload the stack is left out: it explains nothing, such lines are frequent, and they take a
 * third of the bytes without it.
 */
function printableError(error: Error, depth: number, as: Detail): Record<string, unknown> {
  const detail = isServiceUnavailable(error) ? 'short' : as;
  const code: unknown = 'code' in error ? error.code : undefined;
  const hasCause = error.cause !== undefined && error.cause !== null;
  const causes = depth < NESTING_MAX && hasCause;
  return {
    name: error.name,
    message: maskSecrets(error.message || reasonOf(error)),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined || detail === 'short' ? {} : { stack: maskSecrets(error.stack) }),
    ...(causes ? { cause: printable(error.cause, depth + 1, detail) } : {}),
  };
}

type Detail = 'whole' | 'short';

const TEXT_CHARACTERS_MAX = 8192;

/**
 * The forms of secrets wherever they appear: [pattern, replacement]. Repetitions are bounded,
 * because a text made only of beginnings would otherwise take quadratic time.
 */
const secretShapes: readonly (readonly [RegExp, string])[] = [
  [/\btin_live_[0-9a-f]{8,}/gi, 'tin_live_[hidden]'],
  [/\bwhsec_[\w+/=-]{8,}/g, 'whsec_[hidden]'],
  [/\bls1\.[\w.-]+/g, 'ls1.[hidden]'],
  [/\beyJ[\w-]{8,}[\w.-]*/g, '[hidden]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [hidden]'],
  [/([?&](?:sig|s|signature|token|x-amz-[a-z-]+)=)[^&\s"'#]*/gi, '$1[hidden]'],
  // Up to the last @ before the path: URL parsers count earlier ones as part of the password, and
  // people forget to escape a ? or # in it.
  [/(\b[a-z][a-z0-9+.-]{0,31}:\/\/)(?:[^\s/?#]+|[^\s/?#@:]*:[^\s/]+)@/gi, '$1[hidden]@'],
  [/\bv1=[0-9a-f]{32,}/gi, 'v1=[hidden]'],
];

/** The text with everything that looks like a credential replaced, cut to a sane length. */
export function maskSecrets(text: string): string {
  const cut = text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text;
  return secretShapes.reduce((masked, [shape, shown]) => masked.replace(shape, shown), cut);
}
