/** The child's side of an ingest job: one upload in, the images and facts out as one answer. */
import type { AskAdmission, JobAnswer } from '../sandbox/serve-jobs.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { IngestResult } from './ingest-result.ts';
import { sanitize } from './sanitize.ts';

/**
 * The head of an answer; the parts are master, native, mezzanines, exif, icc, xmp, as far as
 * present.
 */
export async function ingestJob(
  facts: unknown,
  [bytes]: Buffer[],
  ask: AskAdmission,
): Promise<JobAnswer> {
  if (bytes === undefined) throw new Error('an ingest job without bytes');
  const { content_type } = facts as { content_type: string };
  try {
    return answer(await sanitize(bytes, content_type, ask));
  } catch (error) {
    if (!(error instanceof IngestRefusal)) throw error;
    return { facts: { error_code: error.code, detail: error.detail }, parts: [] };
  }
}

function answer(result: IngestResult): JobAnswer {
  const { master, native, mezzanines, metadata, ...known } = result;
  const blocks = (['exif', 'icc', 'xmp'] as const).filter((name) => metadata[name] !== undefined);
  return {
    facts: {
      ...known,
      has_native: native !== null,
      mezzanines: mezzanines.map(({ bytes: _, ...mezzanine }) => mezzanine),
      metadata: blocks,
    },
    parts: [
      master,
      ...(native === null ? [] : [native]),
      ...mezzanines.map(({ bytes }) => bytes),
      ...blocks.flatMap((name) => metadata[name] ?? []),
    ],
  };
}
