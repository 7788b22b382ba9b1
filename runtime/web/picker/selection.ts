/** The selected images, in the order of selection. */
import type { LibraryFile } from './library-api.ts';

export class Selection {
  readonly #files = new Map<string, LibraryFile>();
  readonly #limit: 'one' | 'many';
  readonly #onChange: () => void;

  constructor(limit: 'one' | 'many', onChange: () => void) {
    this.#limit = limit;
    this.#onChange = onChange;
  }

  get files(): readonly LibraryFile[] {
    return [...this.#files.values()];
  }

  has({ file_id }: LibraryFile): boolean {
    return this.#files.has(file_id);
  }

  toggle(file: LibraryFile): void {
    if (this.has(file)) this.#files.delete(file.file_id);
    else this.#put(file);
    this.#onChange();
  }

  choose(file: LibraryFile): void {
    this.#put(file);
    this.#onChange();
  }

  clear(): void {
    this.#files.clear();
    this.#onChange();
  }

  #put(file: LibraryFile): void {
    if (this.#limit === 'one') this.#files.clear();
    this.#files.set(file.file_id, file);
  }
}
