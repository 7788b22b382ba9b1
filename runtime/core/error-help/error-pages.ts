/**
 * A page for every code: what it means on each surface that answers it, why, an example, and what to do. One word
 * may have two statuses, so that a page can have several entries. Spec: Errors; Upload helper codes.
 */
import {
  apiErrors,
  browserClientErrors,
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

/** What a code means on one surface. */
export type ErrorEntry = {
  readonly code: string;
  /** Who answers it. */
  readonly surface: string;
  /** Empty where the code is not the answer to a request. */
  readonly statuses: readonly number[];
  readonly message: string;
  readonly cause: string;
  readonly steps: readonly string[];
  /** The body as JSON; undefined where there is none. */
  readonly example: unknown;
  readonly retry_after: boolean;
};

/** Every code in the order of the alphabet, with its entries. */
export const errorPages: ReadonlyMap<string, readonly ErrorEntry[]> = pagesOf([
  ...entriesOf('The management API', apiErrors, apiHelp),
  ...entriesOf('Delivery hosts', deliveryErrors, deliveryHelp),
  ...processingEntries(),
  ...helperEntries(),
  ...wordEntries('The upload helper in the browser', browserClientErrors, browserClientHelp),
  ...wordEntries('The webhook verifier', verifierReasons, verifierHelp),
]);

function pagesOf(entries: readonly ErrorEntry[]): ReadonlyMap<string, readonly ErrorEntry[]> {
  const byCode = Map.groupBy(entries, ({ code }) => code);
  return new Map([...byCode].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function entriesOf<Rows extends Readonly<Record<string, ErrorRow>>>(
  surface: string,
  rows: Rows,
  help: HelpTable<Rows>,
): ErrorEntry[] {
  return Object.entries<ErrorRow>(rows).map(([code, { status, message, retry_after = false }]) => {
    const { cause, steps, details } = help[code] as ErrorHelp<ErrorRow>;
    const example = errorEnvelope({ code, message, details });
    return { code, surface, statuses: [status], message, cause, steps, example, retry_after };
  });
}

const WITHOUT = { retry_after: false } as const;

function processingEntries(): ErrorEntry[] {
  return Object.entries(processingErrors).map(([code, { message }]) => {
    const { cause, steps } = processingHelp[code as keyof typeof processingErrors];
    const status = code === 'session_expired' ? 'expired' : 'failed';
    return {
      ...{ code, message, cause, steps, ...WITHOUT },
      surface: 'The error_code of an upload',
      statuses: [SESSION_FAILURE_STATUS],
      example: { upload_id: 'upl_01kbr40c2m6r8n4t7y9w3x5vqh', status, error_code: code },
    };
  });
}

function helperEntries(): ErrorEntry[] {
  return Object.entries<HelperErrorRow>(helperErrors).map(([code, { statuses, message }]) => {
    const { cause, steps, details } = helperHelp[code as keyof typeof helperErrors];
    const example = errorEnvelope({ code, message, details });
    const surface = 'The upload helper';
    return { code, surface, statuses: statuses ?? [], message, cause, steps, example, ...WITHOUT };
  });
}

function wordEntries<Words extends Readonly<Record<string, string>>>(
  surface: string,
  words: Words,
  help: HelpTable<Words>,
): ErrorEntry[] {
  return Object.entries(words).map(([code, message]) => {
    const { cause, steps } = help[code] as ErrorHelp;
    return { code, surface, statuses: [], message, cause, steps, example: undefined, ...WITHOUT };
  });
}
