/**
 * `tintype/sdk/picker`: shows the picker on a page, in a dialog or as an element of its own, and returns the chosen
 * files. No dependencies. Spec: Library sessions and the picker.
 */
import type { PickedFile, PickerSettings, PickerUpload } from '../picker-protocol.ts';
import { type Frame, languageOf, openFrame, type PickerSession } from './picker-frame.ts';

export type { PickedFile, PickerSession, PickerSettings, PickerUpload };

export type PickerOptions = PickerSettings & {
  /**
   * Asks your server for a session. The server mints one for the signed-in person, or refreshes the
   * given token, and returns the service's answer.
   */
  readonly session: (refreshOf: string | null) => Promise<PickerSession>;
  readonly onUpload?: (upload: PickerUpload) => void;
  /** Codes of the service, and the loader's own `session_failed` and `frame_unavailable`. */
  readonly onError?: (error: { code: string; message: string }) => void;
};

export type OpenedPicker = {
  /** Null if the person closed the picker without choosing. */
  readonly chosen: Promise<readonly PickedFile[] | null>;
  close(): void;
};

/** Opens the picker in a dialog over the page. */
export function openPicker(options: PickerOptions): OpenedPicker {
  const dialog = document.createElement('dialog');
  const texts = TEXTS[languageOf(options)];
  dialog.ariaLabel = texts.title;
  Object.assign(dialog.style, DIALOG);
  const before = document.activeElement;
  let frame: Frame | undefined;
  let settle: (files: readonly PickedFile[] | null) => void = () => undefined;
  const chosen = new Promise<readonly PickedFile[] | null>((resolve) => {
    settle = resolve;
  });
  const end = (files: readonly PickedFile[] | null) => {
    // A later second close must not move the focus again.
    if (!dialog.isConnected) return;
    frame?.remove();
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
    settle(files);
  };
  const { onUpload = ignore, onError = ignore } = options;
  const sentence = document.createElement('p');
  sentence.textContent = texts.opening;
  const wayOut = printWayOut({ sentence, texts, leave: () => end(null) });
  dialog.append(wayOut);
  document.body.append(dialog);
  frame = openFrame(dialog, {
    ...options,
    onReady: () => {
      wayOut.remove();
      // Keystrokes and pasted content must reach the picker.
      dialog.querySelector('iframe')?.focus();
    },
    onSelect: end,
    onClose: () => end(null),
    onUpload,
    onError: (error) => {
      sentence.textContent = texts.failed;
      onError(error);
    },
  });
  dialog.addEventListener('close', () => end(null));
  dialog.showModal();
  return { chosen, close: () => end(null) };
}

type WayOut = {
  readonly sentence: HTMLElement;
  readonly texts: (typeof TEXTS)['en' | 'de'];
  readonly leave: () => void;
};

/**
 * A way to close the dialog before the picker and its own close button have loaded; a phone has no
 * Escape key.
 */
function printWayOut({ sentence, texts, leave }: WayOut): HTMLElement {
  const wayOut = document.createElement('div');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = texts.close;
  button.addEventListener('click', leave);
  wayOut.setAttribute('role', 'status');
  Object.assign(wayOut.style, { padding: '24px', font: '16px/1.5 system-ui, sans-serif' });
  Object.assign(button.style, { font: 'inherit', padding: '8px 16px' });
  wayOut.append(sentence, button);
  return wayOut;
}

/**
 * Defines `<tintype-picker>`: give it `options`, and listen for `tintype-select` (its `detail` is
 * the list of files), `tintype-upload`, `tintype-error` and `tintype-close`.
 */
export function definePicker(name = 'tintype-picker'): void {
  // A server that renders the page has no registry of elements.
  if (typeof customElements === 'undefined' || customElements.get(name) !== undefined) return;
  customElements.define(name, pickerElement());
}

/** As an element: `Object.assign(document.createElement('tintype-picker'), { options })`. */
export type PickerElement = HTMLElement & {
  options: Pick<PickerOptions, 'session'> & PickerSettings;
};

// The class is created on demand, because servers that render pages have no HTMLElement.
function pickerElement(): CustomElementConstructor {
  return class extends HTMLElement {
    // Frameworks check whether the element has this field. Keeps options that were set before the
    // element was defined.
    options: PickerElement['options'] | undefined = (this as Partial<PickerElement>).options;
    #frame: Frame | undefined;

    connectedCallback(): void {
      if (this.options === undefined)
        throw new TypeError('set the options of tintype-picker first');
      const tell = (type: string) => (detail?: unknown) =>
        this.dispatchEvent(new CustomEvent(`tintype-${type}`, { detail }));
      this.style.display ||= 'block';
      this.#frame = openFrame(this, {
        ...this.options,
        onSelect: tell('select'),
        onUpload: tell('upload'),
        onError: tell('error'),
        onClose: tell('close'),
      });
    }

    disconnectedCallback(): void {
      this.#frame?.remove();
    }
  };
}

const TEXTS = {
  en: {
    title: 'Choose images',
    opening: 'Opening the images …',
    failed: 'The images could not be opened.',
    close: 'Close',
  },
  de: {
    title: 'Bilder auswählen',
    opening: 'Die Bilder werden geöffnet …',
    failed: 'Die Bilder konnten nicht geöffnet werden.',
    close: 'Schließen',
  },
} as const;

const DIALOG = {
  width: 'min(980px, 100vw)',
  // Full height on narrow screens.
  height: 'min(100dvh, max(760px, (980px - 100vw) * 9999))',
  maxWidth: '100vw',
  maxHeight: '100dvh',
  padding: '0',
  border: '0',
  borderRadius: 'min(12px, max(0px, (100vw - 980px) * 9999))',
  overflow: 'hidden',
} as const;

function ignore(): void {}
