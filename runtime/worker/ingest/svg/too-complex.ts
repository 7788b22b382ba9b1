/** The refusal of a drawing that costs too much, of any kind. Spec: Limits, Uploads (SVG complexity). */
import { IngestRefusal } from '../ingest-refusal.ts';

export function tooComplex(detail: string): IngestRefusal {
  return new IngestRefusal('image_too_large', detail);
}
