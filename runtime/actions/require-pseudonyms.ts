/** The pseudonyms under which an end user's uploads are stored. Spec: Library session (subject); Files (uploader). */
import { ServiceError } from '../core/errors.ts';
import { requireSubject } from '../core/resources/file-query.ts';
import { pseudonymsOf } from '../core/signing/subject.ts';

/** One for each key; the first is stored. Throws invalid_subject and subject_key_unavailable. */
export function requirePseudonyms(
  { subjects }: { readonly subjects: readonly Uint8Array[] },
  { project_id, subject }: { project_id: string; subject: string },
): Buffer[] {
  const checked = requireSubject(subject);
  if (subjects.length === 0) throw new ServiceError('subject_key_unavailable');
  return pseudonymsOf(subjects, { project_id, subject: checked });
}
