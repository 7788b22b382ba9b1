/** One PUT of bytes with progress, which fetch does not tell. Spec: Uploads, direct and part URLs. */
import { clientError, UploadError } from './upload-error.ts';

export type Sending = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Blob;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
};

/** Resolves with the ETag that the answer shows to scripts, null for none. */
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
      if (status < 200 || status >= 300) reject(storageRefusal(status));
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

function storageRefusal(status: number): UploadError {
  const message = `The storage answered ${status}.`;
  return new UploadError({ code: 'invalid_response', status, message });
}
