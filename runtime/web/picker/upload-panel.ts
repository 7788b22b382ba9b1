/** The list of uploads below the grid: how far each is, and what can be done about it. */
import { element, signButton } from './element.ts';
import { errorText, IN_VAIN, type Texts } from './texts.ts';
import type { UploadRow, Uploads } from './uploads.ts';

type Line = {
  readonly root: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly word: HTMLElement;
  readonly buttons: HTMLElement;
  status: string;
};

export class UploadPanel {
  readonly root: HTMLElement;
  readonly #list = element('ul');
  readonly #lines = new Map<number, Line>();
  readonly #uploads: Uploads;
  readonly #texts: Texts;
  readonly #focusNext: () => void;

  /** By keyboard one goes on there when the last line goes. */
  constructor(uploads: Uploads, texts: Texts, focusNext: () => void) {
    this.#uploads = uploads;
    this.#texts = texts;
    this.#focusNext = focusNext;
    this.root = element('section', { class: 'uploads', 'aria-label': texts.uploads, hidden: '' }, [
      this.#list,
    ]);
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
    const name = element('span', { class: 'name' }, [row.file.name]);
    const root = element('li', {}, [name, bar, word, buttons]);
    const line = { root, bar, word, buttons, status: '' };
    this.#lines.set(row.id, line);
    this.#list.append(root);
    return line;
  }

  #show(line: Line, row: UploadRow): void {
    line.bar.value = row.status === 'ready' ? 1 : row.share;
    line.word.textContent = this.#wordOf(row);
    if (line.status === row.status) return;
    line.status = row.status;
    line.root.dataset['status'] = row.status;
    line.bar.hidden = row.status === 'failed' || row.status === 'canceled';
    const hadFocus = line.buttons.contains(document.activeElement);
    line.buttons.replaceChildren(...this.#buttonsOf(row));
    if (hadFocus) line.buttons.querySelector('button')?.focus();
  }

  #wordOf({ status, share, code }: UploadRow): string {
    if (status === 'sending') return this.#texts.sending(Math.floor(share * 100));
    if (status === 'failed') return errorText(this.#texts, code ?? '');
    return this.#texts[status];
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
      // What is processed becomes an image, whatever is done about it here.
      case 'processing':
      case 'ready':
        return [dismiss];
      case 'failed':
      case 'canceled':
        if (IN_VAIN.has(row.code)) return [dismiss];
        return [button('↻', this.#texts.retry(name), () => this.#uploads.retry(row)), dismiss];
      default:
        return [button('×', this.#texts.cancel(name), () => this.#uploads.cancel(row))];
    }
  }

  #drop(row: UploadRow): void {
    const root = this.#lines.get(row.id)?.root;
    this.#lines.delete(row.id);
    if (root === undefined) return;
    const beside = root.nextElementSibling ?? root.previousElementSibling;
    const hadFocus = root.contains(document.activeElement);
    root.remove();
    if (!hadFocus) return;
    if (beside === null) this.#focusNext();
    else beside.querySelector('button')?.focus();
  }
}
