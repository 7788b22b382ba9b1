/**
 * The frame that holds the picker, and the message channel to it. It accepts messages only from the frame's own window
 * and origin, from the frame's current load, and each once. The token is sent by message to exactly that origin, and
 * never in a URL.
 */
import type {
  FrameMessage,
  HostMessage,
  PickedFile,
  PickerSettings,
  PickerUpload,
  Stamp,
} from '../picker-protocol.ts';

/** The service's answer to the mint of a library session; further fields are ignored. */
export type PickerSession = { readonly token: string; readonly embed_url: string };

export type FrameOptions = PickerSettings & {
  readonly session: (refreshOf: string | null) => Promise<PickerSession>;
  readonly onReady?: () => void;
  readonly onSelect: (files: readonly PickedFile[]) => void;
  readonly onUpload: (upload: PickerUpload) => void;
  readonly onError: (error: { code: string; message: string }) => void;
  readonly onClose: () => void;
};

export type Frame = { remove(): void };

const READY_MS_MAX = 20_000;

export function openFrame(place: HTMLElement, options: FrameOptions): Frame {
  const frame = document.createElement('iframe');
  frame.title = languageOf(options) === 'de' ? 'Bilder' : 'Images';
  frame.referrerPolicy = 'no-referrer';
  Object.assign(frame.style, { width: '100%', height: '100%', border: '0', display: 'block' });
  const wire = new Wire(frame, options);
  const listen = (event: MessageEvent<unknown>) => wire.hear(event);
  window.addEventListener('message', listen);
  void wire.begin(place);
  return {
    remove: () => {
      window.removeEventListener('message', listen);
      wire.end();
      frame.remove();
    },
  };
}

/** The picker's language, chosen as the picker itself does; it has only these two. */
export function languageOf({ language }: PickerSettings): 'en' | 'de' {
  const preferred: readonly string[] = language ? [language] : navigator.languages;
  const known = preferred.map((tag) => tag.split('-', 1)[0]);
  return known.find((each) => each === 'en' || each === 'de') === 'de' ? 'de' : 'en';
}

class Wire {
  readonly #frame: HTMLIFrameElement;
  readonly #options: FrameOptions;
  #token: string | null = null;
  #origin = '';
  #channel = '';
  #heard = 0;
  #sent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: 'open' | 'ended' = 'open';

  constructor(frame: HTMLIFrameElement, options: FrameOptions) {
    this.#frame = frame;
    this.#options = options;
  }

  async begin(place: HTMLElement): Promise<void> {
    const session = await this.#mint();
    if (session === undefined || this.#state === 'ended') return;
    this.#frame.src = session.embed_url;
    place.append(this.#frame);
    this.#timer = setTimeout(() => this.#fail('frame_unavailable', NO_FRAME), READY_MS_MAX);
  }

  end(): void {
    this.#state = 'ended';
    clearTimeout(this.#timer);
  }

  hear({ data, origin, source }: MessageEvent<unknown>): void {
    const isFrame = source !== null && source === this.#frame.contentWindow;
    if (!isFrame || origin !== this.#origin || !isFrameMessage(data)) return;
    if (data.type === 'ready') {
      this.#channel = data.channel;
      this.#heard = 0;
    }
    if (data.channel !== this.#channel || data.number <= this.#heard) return;
    this.#heard = data.number;
    this.#take(data);
  }

  #take(message: FrameMessage): void {
    const { onReady, onSelect, onUpload, onError, onClose } = this.#options;
    switch (message.type) {
      case 'ready':
        clearTimeout(this.#timer);
        this.#hand();
        onReady?.();
        return;
      case 'refresh':
        void this.#mint().then((session) => session !== undefined && this.#hand());
        return;
      case 'select':
        onSelect(message.files);
        return;
      case 'upload':
        onUpload(message.upload);
        return;
      case 'error':
        onError({ code: message.code, message: message.message });
        return;
      case 'close':
        onClose();
    }
  }

  async #mint(): Promise<PickerSession | undefined> {
    try {
      const session = await this.#options.session(this.#token);
      if (!isSession(session)) throw new TypeError(NO_SESSION);
      this.#origin ||= new URL(session.embed_url).origin;
      this.#token = session.token;
      return session;
    } catch (error) {
      this.#fail('session_failed', error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #hand(): void {
    if (this.#token === null || this.#channel === '') return;
    const { select, language, theme } = this.#options;
    this.#sent += 1;
    const message: HostMessage & Stamp = {
      type: 'session',
      token: this.#token,
      settings: {
        ...(select === undefined ? {} : { select }),
        ...(language ? { language } : {}),
        ...(theme === undefined ? {} : { theme }),
      },
      tintype: 'picker',
      v: 1,
      channel: this.#channel,
      number: this.#sent,
    };
    this.#frame.contentWindow?.postMessage(message, this.#origin);
  }

  #fail(code: string, message: string): void {
    if (this.#state === 'open') this.#options.onError({ code, message });
  }
}

const NO_FRAME =
  'The picker did not load. Is this page’s origin the one that the session was minted for?';

const NO_SESSION =
  'session() returned no session: return the response of the service, with its token and embed_url.';

function isSession(answer: unknown): answer is PickerSession {
  const { token, embed_url } = (answer ?? {}) as Partial<PickerSession>;
  return typeof token === 'string' && typeof embed_url === 'string' && URL.canParse(embed_url);
}

function isFrameMessage(data: unknown): data is FrameMessage & Stamp {
  if (typeof data !== 'object' || data === null) return false;
  const { tintype, v, type, channel, number } = data as Partial<FrameMessage & Stamp>;
  const isOurs = tintype === 'picker' && v === 1 && typeof type === 'string';
  return isOurs && typeof channel === 'string' && typeof number === 'number';
}
