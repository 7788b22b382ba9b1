/** One PUT of bytes with upload progress, which fetch does not report. Spec: Uploads, direct and part URLs. */
import { clientError, readRefusal, UploadError } from './upload-error.ts';

export type Sending = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Blob;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
};

/** Resolves to the ETag if the answer exposes it to scripts, otherwise to null. */
export function sendBytes({ url, headers, bytes, signal, onProgress }: Sending) {
  return new Promise<string | null>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const end = () => signal.removeEventListener('abort', stop);
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onabort = () => {
      end();
      reject(signal.reason);
    };
    request.onerror = () => {
      end();
      reject(clientError('network_error'));
    };
    request.onload = () => {
      end();
      const { status } = request;
      if (status < 200 || status >= 300) reject(refusalOf(request));
      else resolve(request.getResponseHeader('etag'));
    };
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener('abort', stop);
    request.send(bytes);
  });
}

/** The service explains a refusal in its envelope; third-party storages have their own format. */
function refusalOf({ status, responseText }: XMLHttpRequest): UploadError {
  const message = `The storage answered ${status}.`;
  const unknown = new UploadError({ code: 'invalid_response', status, message });
  try {
    return readRefusal(JSON.parse(responseText), status) ?? unknown;
  } catch {
    return unknown;
  }
}
