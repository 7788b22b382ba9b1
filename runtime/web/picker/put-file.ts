/** Sends the bytes of one upload and reports progress. */
import { PickerError } from './library-api.ts';

export function putFile(
  url: string,
  {
    file,
    signal,
    onProgress,
  }: { file: File; signal: AbortSignal; onProgress: (share: number) => void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('content-type', file.type);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded / file.size);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(new PickerError(codeOf(request.responseText)));
    };
    request.onerror = () => reject(new PickerError('network_error'));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

function codeOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string } };
    return error?.code ?? 'network_error';
  } catch {
    return 'network_error';
  }
}
