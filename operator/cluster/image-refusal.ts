/** Why a declared image is not taken, in words for its resource: those of the API point to details beside them. */
import type { ServiceError } from '../../runtime/core/errors.ts';

export const ASLEEP =
  'the project is suspended and takes no image: it is brought once the project wakes';

/** `whose`: of the project any image would be refused; bytes that are refused no project's room or state makes better. */
type Refusal = { message: string; whose?: 'project' | 'bytes' };

type Details = { accepted?: readonly string[]; max_bytes?: number };

const refusals: Readonly<Record<string, (details: Details) => Refusal>> = {
  project_suspended: () => ({ whose: 'project', message: ASLEEP }),
  // How much room there is changes all the time, and somebody does something about it.
  storage_quota_exceeded: () => ({
    whose: 'project',
    message:
      'the project has no room for the image: delete files of it, or raise its storage or plan; it is tried again by itself',
  }),
  unsupported_content_type: ({ accepted = [] }) => ({
    whose: 'bytes',
    message: `the image is of no type that is taken (${accepted.join(', ')}): declare another one`,
  }),
  file_too_large: ({ max_bytes }) => ({
    whose: 'bytes',
    message: `the image has more than ${max_bytes} bytes: declare another one`,
  }),
};

export function sayRefusal({ code, message, details }: ServiceError): Refusal {
  return refusals[code]?.(details as Details) ?? { message };
}
