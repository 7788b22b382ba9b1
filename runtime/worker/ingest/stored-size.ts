/**
 * Whether a sanitized image is too long to keep. Spec: Processing error codes (image_too_large: a palette PNG that
 * becomes too large when re-encoded).
 */
import { SANITIZED_BYTES_MAX, SANITIZED_GROWN_BYTES_MAX } from '../../core/limits.ts';

const GROWN = 1.5;

export function isTooLong(storedBytes: number, uploadBytes: number): boolean {
  const hasGrown = storedBytes > uploadBytes * GROWN;
  return storedBytes > (hasGrown ? SANITIZED_GROWN_BYTES_MAX : SANITIZED_BYTES_MAX);
}
