/**
 * Example responses of upload operations, by operation: only that of create includes where to send the bytes.
 */
import { libraryUploadRecord } from '../../../runtime/core/resources/library-session.ts';
import { uploadRecord } from '../../../runtime/core/resources/upload.ts';
import { exampleIds } from './example-ids.ts';
import { examples } from './examples.ts';

const { file_id } = examples.File;
const ready_at = '2026-11-02T09:30:04.000Z';
const open = uploadRecord.omit({ direct: true }).parse(examples.Upload);
const ready = { ...open, status: 'ready', ready_at, file_id, revision: 1, updated_at: ready_at };
const expired = { status: 'expired', error_code: 'session_expired' };

const begun = { status: 'created', ready_at: null, file: null };
const proxy = { put_url: `https://api.img.example/v1/uploads/${exampleIds.upl}?exp=…&sig=…` };

/** For a list: its only item. */
export const answerExamples: Readonly<Record<string, unknown>> = {
  listUploads: ready,
  listUploadsAsStaff: ready,
  getUpload: ready,
  completeUpload: { ...open, status: 'uploaded' },
  abortUpload: { ...open, ...expired },
  createLibraryUpload: libraryUploadRecord.parse({ ...examples.LibraryUpload, ...begun, proxy }),
  completeLibraryUpload: { ...examples.LibraryUpload, ...begun, status: 'uploaded' },
  abortLibraryUpload: { ...examples.LibraryUpload, ...begun, ...expired },
};
