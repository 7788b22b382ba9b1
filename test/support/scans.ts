/** Scans like those of a dispatcher: a model server, a render worker, and revisions published for scanning. */
import { publishFile } from '../../runtime/actions/publish-file.ts';
import type { Database } from '../../runtime/db/client.ts';
import type { FileRow } from '../../runtime/db/files.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import { type ScanContext, scanChecks } from '../../runtime/jobs/scan-checks.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { openHttpScanner } from '../../runtime/platform/scanner/http-scanner.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { startWorker } from '../../runtime/worker/serve.ts';
import { makeJobs } from './jobs.ts';
import { over, photograph } from './pictures.ts';
import { makeProcessing, must, newRevision } from './rows.ts';
import { startScannerServer } from './scanner-server.ts';

export type Scans = Awaited<ReturnType<typeof makeScans>>;

/** The parts of a deployment. Default: folder buckets and one in-process queue. */
export type ScanParts = { buckets: Buckets; queue: Queue; worker_queue: Queue };

export async function makeScans(db: Database, parts?: ScanParts) {
  const server = await startScannerServer();
  const jobs = await makeJobs(db);
  const deps = { ...jobs.deps, ...parts };
  const slots = { ingest: { slots: 0 }, render: { slots: 1 } };
  const queue = parts?.worker_queue ?? deps.queue;
  const worker = await startWorker({ ...deps, queue, clock: systemClock, ...slots });
  const size = { width: 900, height: 600 };
  const picture = await over(photograph(size.width, size.height)).jpeg().toBuffer();
  const { content } = deps.buckets;
  const context = (changes: Partial<ScanContext> = {}): ScanContext => ({
    ...deps,
    clock: systemClock,
    signal: new AbortController().signal,
    scanner: openHttpScanner({ url: server.url, clock: systemClock }),
    thresholds: {},
    ...changes,
  });
  return {
    server,
    size,
    /** Publishes the next revision of a slug, like ingest with a scanner. */
    publish: async (project: ProjectRow, file_slug: string, bytes = picture): Promise<FileRow> => {
      const upload = await makeProcessing(db, project, { file_slug });
      const object_key = `masters/${upload.upload_id}`;
      const content_type = 'image/jpeg';
      await content.write(object_key, bytes, { content_type });
      const { upload_id, attempt } = upload;
      const facts = newRevision(upload, { ...size, object_key, content_type, mezzanines: [] });
      const publication = { upload_id, attempt, facts, taken_at: null, location: null };
      return must(await publishFile({ db, clock: systemClock, is_scanned: true }, publication));
    },
    scan: (changes?: Partial<ScanContext>) => scanChecks(context(changes)),
    forget: (file: Pick<FileRow, 'object_key'>) => content.delete(file.object_key),
    close: async () => {
      await worker.stop();
      await server.close();
      await jobs.close();
    },
  };
}
