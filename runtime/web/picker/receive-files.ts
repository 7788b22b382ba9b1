/** Receives files that are dropped on the page or pasted into it. */
import { element } from './element.ts';
import type { Texts } from './texts.ts';

export function receiveFiles(texts: Texts, take: (files: readonly File[]) => void): void {
  const overlay = element('div', { class: 'drop-overlay', hidden: '', 'aria-hidden': 'true' }, [
    texts.drop,
  ]);
  document.body.append(overlay);
  let depth = 0;
  const enter = (change: number) => {
    depth = Math.max(0, depth + change);
    overlay.hidden = depth === 0;
  };
  document.addEventListener('dragenter', (event) => hasFiles(event) && enter(1));
  document.addEventListener('dragleave', (event) => hasFiles(event) && enter(-1));
  document.addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    enter(-depth);
    take([...(event.dataTransfer?.files ?? [])]);
  });
  document.addEventListener('paste', ({ clipboardData }) => {
    const files = [...(clipboardData?.files ?? [])];
    if (files.length > 0) take(files);
  });
}

/** Without this, a browser replaces the page with a dropped file that nothing handles. */
export function keepFilesOut(): void {
  for (const type of ['dragover', 'drop'] as const) {
    document.addEventListener(type, (event) => hasFiles(event) && event.preventDefault());
  }
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') === true;
}
