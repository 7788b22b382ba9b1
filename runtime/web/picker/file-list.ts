/** The files shown in the picker: the pages of the current search. */
import { type FilePage, type LibraryFile, PickerError } from './library-api.ts';

export type ListState = 'loading' | 'more' | 'whole' | 'failed';
export type FindPage = (page: {
  search: string;
  cursor: string | null;
  signal: AbortSignal;
}) => Promise<FilePage>;

export type ListOptions = {
  readonly find: FindPage;
  readonly tokenNow: () => string;
  readonly onChange: () => void;
  /** Called once per failure. */
  readonly onFailed: (code: string) => void;
};

/** A page as last answered, and the token it was requested with. */
type Page = {
  readonly search: string;
  readonly cursor: string | null;
  token: string;
  files: Promise<readonly LibraryFile[]>;
};

export class FileList {
  items: LibraryFile[] = [];
  state: ListState = 'more';
  /** The error code of the last failure. */
  code = '';
  search = '';
  #cursor: string | null = null;
  /** The token with which the list was last restarted; once per token is enough. */
  #begunAnewWith = '';
  #pages: Page[] = [];
  /** Files that arrived while the list is shown, newest first, whatever is searched for. */
  #arrived: Page | undefined;
  #controller = new AbortController();
  readonly #find: FindPage;
  readonly #tokenNow: () => string;
  readonly #onChange: () => void;
  readonly #onFailed: (code: string) => void;

  constructor({ find, tokenNow, onChange, onFailed }: ListOptions) {
    this.#find = find;
    this.#tokenNow = tokenNow;
    this.#onChange = onChange;
    this.#onFailed = onFailed;
  }

  /** Starts the list over with a search. */
  restart(search: string): void {
    this.#forget();
    this.search = search;
    this.state = 'more';
    void this.loadMore();
  }

  /** Removes all files for a reason that the person is told; the next try starts the list over. */
  close(code: string): void {
    this.#forget();
    this.#fail(code);
  }

  #forget(): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.items = [];
    this.#cursor = null;
    this.#pages = [];
    this.#arrived = undefined;
  }

  /** Loads the next page, unless one is loading or none is left. */
  async loadMore(): Promise<void> {
    if (this.state === 'loading' || this.state === 'whole') return;
    if (this.state === 'failed' && this.code === 'invalid_cursor') return this.restart(this.search);
    this.#become('loading');
    const { signal } = this.#controller;
    const { search } = this;
    const cursor = this.#cursor;
    const token = this.#tokenNow();
    try {
      const page = await this.#find({ search, cursor, signal });
      this.#pages.push({ search, cursor, token, files: Promise.resolve(page.items) });
      const known = new Set(this.items.map(({ file_id }) => file_id));
      this.items.push(...page.items.filter(({ file_id }) => !known.has(file_id)));
      this.#cursor = page.next_cursor;
      this.#become(page.next_cursor === null ? 'whole' : 'more');
    } catch (error) {
      // Another search has started, and its answer counts, or the session has ended.
      if (signal.aborted) return;
      const code = error instanceof PickerError ? error.code : 'network_error';
      // A renewed session may see less than the one with which the list was started.
      if (code === 'invalid_cursor' && this.#begunAnewWith !== this.#tokenNow()) {
        this.#begunAnewWith = this.#tokenNow();
        return this.restart(search);
      }
      this.#fail(code);
    }
  }

  /**
   * A new URL for a thumbnail that failed to load, if there is one: a signed URL expires with the
   * token with which it was listed.
   */
  async findThumbnail({ file_id, thumbnail_url }: LibraryFile): Promise<string | undefined> {
    const findIn = async ({ files }: Page) =>
      (await files).find((each) => each.file_id === file_id);
    const arrived = this.#arrived === undefined ? [] : [this.#arrived];
    for (const page of [...arrived, ...this.#pages]) {
      if ((await findIn(page)) === undefined) continue;
      this.#renew(page);
      const file = await findIn(page);
      return file?.thumbnail_url === thumbnail_url ? undefined : file?.thumbnail_url;
    }
    return undefined;
  }

  /** Requests the page again with the current token, once for all its thumbnails. */
  #renew(page: Page): void {
    if (page.token === this.#tokenNow()) return;
    page.token = this.#tokenNow();
    const { signal } = this.#controller;
    const { search, cursor, files: known } = page;
    page.files = this.#find({ search, cursor, signal }).then(
      ({ items }) => items,
      () => known,
    );
  }

  /** Puts a file that has just arrived first. */
  prepend(file: LibraryFile): void {
    this.items = [file, ...this.items.filter(({ file_id }) => file_id !== file.file_id)];
    const token = this.#tokenNow();
    this.#arrived ??= { search: '', cursor: null, token, files: Promise.resolve([]) };
    this.#arrived.files = this.#arrived.files.then((known) => [file, ...known]);
    this.#onChange();
  }

  #fail(code: string): void {
    this.code = code;
    this.#become('failed');
    this.#onFailed(code);
  }

  #become(state: ListState): void {
    this.state = state;
    this.#onChange();
  }
}
