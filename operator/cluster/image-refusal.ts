/**
 * Why a declared image is refused, in text for its resource: the API's messages refer to details that a condition
 * lacks.
 */
import type { ServiceError } from '../../runtime/core/errors.ts';

export const SUSPENDED =
  'the project is suspended and accepts no image: the image is uploaded once the project is active again';

/**
 * `whose`: `project` would refuse any image; `bytes` are refused whatever the project's room or
 * state.
 */
type Refusal = { message: string; whose?: 'project' | 'bytes' };

type Details = { accepted?: readonly string[]; max_bytes?: number };

const refusals: Readonly<Record<string, (details: Details) => Refusal>> = {
  project_suspended: () => ({ whose: 'project', message: SUSPENDED }),
  // The available room changes all the time, and somebody may free some.
  storage_quota_exceeded: () => ({
    whose: 'project',
    message:
      'the project has no storage left for the image: delete some of its files, raise its storage limit or upgrade its plan; the operator tries again by itself',
  }),
  unsupported_content_type: ({ accepted = [] }) => ({
    whose: 'bytes',
    message: `the image is not of an accepted type (${accepted.join(', ')}): declare another one`,
  }),
  file_too_large: ({ max_bytes }) => ({
    whose: 'bytes',
    message: `the image has more than ${max_bytes} bytes: declare another one`,
  }),
};

export function describeRefusal({ code, message, details }: ServiceError): Refusal {
  return refusals[code]?.(details as Details) ?? { message };
}
