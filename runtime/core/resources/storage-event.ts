/**
 * Notifications of new objects, in the formats of AWS, MinIO, Ceph and versitygw: only the key matters. An event is
 * only a hint to look. Spec: Infrastructure (storage-events).
 */
import { isRecord, parseAnyJson } from '../json.ts';

/** One event: the object's key, or undefined if it is not about a new object. */
export type StorageEvent = { key: string | undefined };

type Fields = Readonly<Record<string, unknown>>;

/**
 * The events of a body: `{ events }` as specified, or a storage's own `{ Records }` or single
 * event. Undefined for anything else.
 */
export function parseStorageEvents(body: unknown): StorageEvent[] | undefined {
  if (!isRecord(body)) return undefined;
  const wrapped = wrappedIn(body);
  if (wrapped !== undefined) return parseStorageEvents(wrapped);
  const { events, Records: records } = body;
  const list = events ?? records;
  if (list === undefined) return isSingle(body) ? [parseEvent(body)] : undefined;
  if (!Array.isArray(list) || !list.every(isRecord)) return undefined;
  return list.flatMap(parseEntry);
}

/** The original notification, if AWS forwarded it through SNS or EventBridge. */
function wrappedIn({ Type: type, Message: message, detail, ...body }: Fields): unknown {
  if (type === 'Notification' && typeof message === 'string') {
    return parseAnyJson(message) ?? {};
  }
  if (body['detail-type'] !== 'Object Created') return undefined;
  return { events: [{ event: 'ObjectCreated', key: at(at(detail, 'object'), 'key') }] };
}

/** A list may hold events, or whole notifications with events of their own. */
function parseEntry(entry: Fields): StorageEvent[] {
  const { Records: records } = entry;
  if (!Array.isArray(records)) return [parseEvent(entry)];
  return records.map((record) => (isRecord(record) ? parseEvent(record) : { key: undefined }));
}

const CREATED = /(^|:)ObjectCreated(:|$)/;

function parseEvent(event: Fields): StorageEvent {
  const name = event['eventName'] ?? event['EventName'] ?? event['event'] ?? event['Event'];
  const isCreated = typeof name === 'string' && CREATED.test(name);
  return { key: isCreated ? keyOf(event) : undefined };
}

/**
 * AWS, Ceph and versitygw nest the key; MinIO's own format prefixes it with the bucket; a plain
 * event has it directly.
 */
function keyOf(event: Fields): string | undefined {
  const nested = at(at(event['s3'], 'object'), 'key');
  if (typeof nested === 'string') return nested;
  if (typeof event['key'] === 'string') return event['key'];
  const { Key: key } = event;
  return typeof key === 'string' ? key.slice(key.indexOf('/') + 1) : undefined;
}

/** The key as sent, and unescaped: some storages escape it for a URL, others do not. */
export function candidateKeys(key: string): string[] {
  const other = unescaped(key);
  return other === undefined || other === key ? [key] : [key, other];
}

function unescaped(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** AWS's test notification, and MinIO's events, which are not in a list. */
function isSingle(body: Fields): boolean {
  return ['Event', 'EventName', 'eventName'].some((name) => typeof body[name] === 'string');
}

function at(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
