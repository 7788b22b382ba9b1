/** The files that are shown, page after page, as the search that is typed has them. */
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
  /** Once for each failure. */
  readonly onFailed: (code: string) => void;
};

/** As it was answered last, and to which token. */
type Page = {
  readonly search: string;
  readonly cursor: string | null;
  token: string;
  files: Promise<readonly LibraryFile[]>;
};

export class FileList {
  items: LibraryFile[] = [];
  state: ListState = 'more';
  /** Why it failed. */
  code = '';
  search = '';
  #cursor: string | null = null;
  /** The token that the list was begun anew with: once is enough for each. */
  #begunAnewWith = '';
  #pages: Page[] = [];
  /** What arrived while the list is shown, whatever is looked for: the newest of all. */
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

  /** From its beginning, with what is looked for. */
  restart(search: string): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.items = [];
    this.search = search;
    this.state = 'more';
    this.#cursor = null;
    this.#pages = [];
    this.#arrived = undefined;
    void this.loadMore();
  }

  /** One page more, unless one is on its way or none is left. */
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
      // Another search has begun: its own answer counts.
      if (signal.aborted) return;
      this.code = error instanceof PickerError ? error.code : 'network_error';
      // A session that was renewed may see less than the one that this list was begun with.
      if (this.code === 'invalid_cursor' && this.#begunAnewWith !== this.#tokenNow()) {
        this.#begunAnewWith = this.#tokenNow();
        return this.restart(search);
      }
      this.#become('failed');
      this.#onFailed(this.code);
    }
  }

  /**
   * The address of a thumbnail that did not load, where there is another: a signed one ends with the token that it was
   * listed with.
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

  /** Once for all of its thumbnails. */
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

  /** A file that has just arrived stands first. */
  prepend(file: LibraryFile): void {
    this.items = [file, ...this.items.filter(({ file_id }) => file_id !== file.file_id)];
    const token = this.#tokenNow();
    this.#arrived ??= { search: '', cursor: null, token, files: Promise.resolve([]) };
    this.#arrived.files = this.#arrived.files.then((known) => [file, ...known]);
    this.#onChange();
  }

  #become(state: ListState): void {
    this.state = state;
    this.#onChange();
  }
}
