/** The list of uploads below the grid: their progress and the actions on them. */
import { element, signButton } from './element.ts';
import { errorText, NOT_RETRYABLE, type Texts } from './texts.ts';
import type { UploadRow, Uploads } from './uploads.ts';

type Line = {
  readonly root: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly word: HTMLElement;
  readonly buttons: HTMLElement;
  readonly news: HTMLElement;
  status: string;
};

export class UploadPanel {
  readonly root: HTMLElement;
  /**
   * Announces to screen readers how each upload ended. It is outside of the list, because content
   * that was hidden a moment ago is not announced.
   */
  readonly news: HTMLElement;
  readonly #list = element('ul');
  readonly #lines = new Map<number, Line>();
  readonly #uploads: Uploads;
  readonly #texts: Texts;
  readonly #focusNext: () => void;

  /** `focusNext` moves the keyboard focus on when the last line is removed. */
  constructor(uploads: Uploads, texts: Texts, focusNext: () => void) {
    this.#uploads = uploads;
    this.#texts = texts;
    this.#focusNext = focusNext;
    this.root = element('section', { class: 'uploads', 'aria-label': texts.uploads, hidden: '' }, [
      this.#list,
    ]);
    this.news = element('div', { role: 'log', class: 'unseen', 'aria-label': texts.uploads });
  }

  update(row: UploadRow): void {
    const isListed = this.#uploads.rows.includes(row);
    if (isListed) this.#show(this.#lineOf(row), row);
    else this.#drop(row);
    this.root.hidden = this.#uploads.rows.length === 0;
  }

  #lineOf(row: UploadRow): Line {
    const known = this.#lines.get(row.id);
    if (known !== undefined) return known;
    const bar = element('progress', { max: 1, 'aria-label': row.file.name });
    const word = element('span', { class: 'word' });
    const buttons = element('span', { class: 'buttons' });
    const { name: called } = row.file;
    const name = element('span', { class: 'name', dir: 'auto', title: called }, [called]);
    const root = element('li', {}, [name, bar, word, buttons]);
    const line = { root, bar, word, buttons, news: element('p'), status: '' };
    this.#lines.set(row.id, line);
    this.#list.append(root);
    this.news.append(line.news);
    return line;
  }

  #show(line: Line, row: UploadRow): void {
    line.bar.value = row.status === 'ready' ? 1 : row.share;
    line.word.textContent = this.#wordOf(row);
    if (line.status === row.status) return;
    line.status = row.status;
    line.root.dataset['status'] = row.status;
    const isOver = row.status === 'ready' || row.status === 'failed';
    line.news.textContent = isOver ? `${row.file.name}: ${this.#wordOf(row)}` : '';
    line.bar.hidden = row.status === 'failed' || row.status === 'canceled';
    const hadFocus = line.buttons.contains(document.activeElement);
    line.buttons.replaceChildren(...this.#buttonsOf(row));
    if (hadFocus) line.buttons.querySelector('button')?.focus();
  }

  #wordOf({ file, status, share, code }: UploadRow): string {
    if (status === 'sending') return this.#texts.sending(Math.floor(share * 100));
    if (status !== 'failed') return this.#texts[status];
    const isKnown = code === 'file_too_large' && this.#uploads.isTooLarge(file);
    return isKnown ? this.#texts.tooLarge(this.#largest()) : errorText(this.#texts, code ?? '');
  }

  /** The limit as text, rounded down so that a file of this size is accepted. */
  #largest(): string {
    const { max_bytes } = this.#uploads;
    const [unit, bytes] = max_bytes < 1_000_000 ? ['kB', 1000] : ['MB', 1_000_000];
    const tenths = Math.floor((max_bytes / bytes) * 10);
    return `${(tenths / 10).toLocaleString(document.documentElement.lang)} ${unit}`;
  }

  #buttonsOf(row: UploadRow): HTMLElement[] {
    const { name } = row.file;
    const button = (sign: string, label: string, press: () => void) => {
      const made = signButton(sign, label);
      made.addEventListener('click', press);
      return made;
    };
    const dismiss = button('×', this.#texts.dismiss(name), () => this.#uploads.dismiss(row));
    switch (row.status) {
      // A file in processing becomes an image, whatever is done here.
      case 'processing':
      case 'ready':
        return [dismiss];
      case 'failed':
      case 'canceled':
        if (NOT_RETRYABLE.has(row.code)) return [dismiss];
        return [button('↻', this.#texts.retry(name), () => this.#uploads.retry(row)), dismiss];
      default:
        return [button('×', this.#texts.cancel(name), () => this.#uploads.cancel(row))];
    }
  }

  #drop(row: UploadRow): void {
    const line = this.#lines.get(row.id);
    this.#lines.delete(row.id);
    if (line === undefined) return;
    line.news.remove();
    const { root } = line;
    const beside = root.nextElementSibling ?? root.previousElementSibling;
    const hadFocus = root.contains(document.activeElement);
    root.remove();
    if (!hadFocus) return;
    if (beside === null) this.#focusNext();
    else beside.querySelector('button')?.focus();
  }
}
