/**
 * A page for every code: its meaning on each surface that uses it, the cause, an example, and what to do. One code may
 * have different statuses, so a page can have several entries. Spec: Errors; Upload helper codes.
 */
import { browserClientErrors } from '../browser-client-errors.ts';
import {
  apiErrors,
  deliveryErrors,
  type ErrorRow,
  errorEnvelope,
  type HelperErrorRow,
  helperErrors,
  processingErrors,
  SESSION_FAILURE_STATUS,
  verifierReasons,
} from '../errors.ts';
import { apiHelp } from './api-help.ts';
import { deliveryHelp } from './delivery-help.ts';
import type { ErrorHelp, HelpTable } from './help-table.ts';
import { browserClientHelp, helperHelp, verifierHelp } from './helper-help.ts';
import { processingHelp } from './processing-help.ts';

/** Where a code is used. */
export const errorSurfaces = {
  api: 'The management API',
  delivery: 'Delivery hosts',
  processing: 'The error_code of an upload',
  helper: 'The upload helper',
  browser_client: 'The upload helper in the browser',
  verifier: 'The webhook verifier',
} as const;

type ErrorSurface = keyof typeof errorSurfaces;

/** What a code means on one surface. */
export type ErrorEntry = {
  readonly code: string;
  readonly surface: ErrorSurface;
  /** Empty when the code is not the answer to a request. */
  readonly statuses: readonly number[];
  readonly message: string;
  readonly cause: string;
  readonly steps: readonly string[];
  /** The body as JSON; undefined when there is none. */
  readonly example: unknown;
  /** A sentence about the example. */
  readonly note?: string;
};

const RETRY_AFTER_NOTE = 'The response carries `Retry-After`, in seconds.';
const upload_id = 'upl_01kbr40c2m6r8n4t7y9w3x5vqh';

/** Every code in alphabetical order, with its entries. */
export const errorPages: ReadonlyMap<string, readonly ErrorEntry[]> = pagesOf([
  ...entriesOf('api', apiErrors, apiHelp),
  ...entriesOf('delivery', deliveryErrors, deliveryHelp),
  ...processingEntries(),
  ...helperEntries(),
  ...wordEntries('browser_client', browserClientErrors, browserClientHelp),
  ...wordEntries('verifier', verifierReasons, verifierHelp),
]);

function pagesOf(entries: readonly ErrorEntry[]): ReadonlyMap<string, readonly ErrorEntry[]> {
  const byCode = Map.groupBy(entries, ({ code }) => code);
  return new Map([...byCode].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function entriesOf<Rows extends Readonly<Record<string, ErrorRow>>>(
  surface: ErrorSurface,
  rows: Rows,
  help: HelpTable<Rows>,
): ErrorEntry[] {
  return Object.entries<ErrorRow>(rows).map(([code, { status, message, retry_after = false }]) => {
    const { cause, steps, details } = help[code] as ErrorHelp<ErrorRow>;
    const example = errorEnvelope({ code, message, details });
    const note = retry_after ? { note: RETRY_AFTER_NOTE } : {};
    return { code, surface, statuses: [status], message, cause, steps, example, ...note };
  });
}

function processingEntries(): ErrorEntry[] {
  return Object.entries(processingErrors).map(([code, { message }]) => {
    const { cause, steps } = processingHelp[code as keyof typeof processingErrors];
    const surface = 'processing';
    const session = code === 'session_expired' ? expired(code) : failed(code);
    return { code, surface, message, cause, steps, ...session };
  });
}

type Session = Pick<ErrorEntry, 'statuses' | 'example' | 'note'>;

function failed(error_code: string): Session {
  return {
    statuses: [SESSION_FAILURE_STATUS],
    example: { upload_id, status: 'failed', error_code },
    note: 'You find this code in the upload. Completing the upload again answers 422 with this code.',
  };
}

function expired(error_code: string): Session {
  return {
    statuses: [],
    example: { upload_id, status: 'expired', error_code },
    note: 'You find this code in the upload. Completing the upload answers 410 `upload_expired`; the upload helper answers 422 with this code while the upload’s token is still valid.',
  };
}

function helperEntries(): ErrorEntry[] {
  return Object.entries<HelperErrorRow>(helperErrors).map(([code, { statuses, message }]) => {
    const { cause, steps, details } = helperHelp[code as keyof typeof helperErrors];
    const example = errorEnvelope({ code, message, details });
    const surface = 'helper';
    return { code, surface, statuses: statuses ?? [], message, cause, steps, example };
  });
}

function wordEntries<Words extends Readonly<Record<string, string>>>(
  surface: ErrorSurface,
  words: Words,
  help: HelpTable<Words>,
): ErrorEntry[] {
  return Object.entries(words).map(([code, message]) => {
    const { cause, steps } = help[code] as ErrorHelp;
    return { code, surface, statuses: [], message, cause, steps, example: undefined };
  });
}
