/**
 * The grid of images: a listbox that renders only its visible rows, so that 100,000 images scroll like 100. The
 * keyboard moves within it; the browser's focus stays on the box itself.
 */
import { element } from './element.ts';
import type { FileList } from './file-list.ts';
import { type Steps, targetOf } from './grid-keys.ts';
import type { LibraryFile } from './library-api.ts';
import type { Selection } from './selection.ts';
import type { Texts } from './texts.ts';
import { createTile, type Tile } from './tile.ts';

const TILE_WIDTH_MIN = 132;
const TILE_GAP = 12;
const CAPTION_HEIGHT = 44;
/** Rows rendered above and below the visible ones. */
const ROWS_BESIDE = 2;
/** The next page is requested when this many rows are left. */
const ROWS_LEFT = 6;

type Options = {
  list: FileList;
  selection: Selection;
  texts: Texts;
  select: 'one' | 'many';
  /** Called on Enter or a second click. */
  onInsert: () => void;
};

export class Grid {
  readonly root: HTMLElement;
  readonly #box: HTMLElement;
  readonly #options: Options;
  readonly #tiles = new Map<number, { tile: Tile; file_id: string }>();
  /**
   * The image under the keyboard, by id because others may be inserted before it. Undefined until
   * the keyboard is used, which starts at the first image.
   */
  #active: string | undefined;
  #shape = { columns: 1, side: TILE_WIDTH_MIN };
  #frame = 0;
  /** Scroll to the active image when drawing: until then, new images have no room. */
  #mustReveal = false;

  constructor(options: Options) {
    this.#options = options;
    const { texts, select } = options;
    this.#box = element('div', {
      role: 'listbox',
      tabindex: 0,
      class: 'grid',
      'aria-label': texts.title,
      'aria-multiselectable': select === 'many' ? 'true' : null,
    });
    this.root = element('div', { class: 'scroll' }, [this.#box]);
    this.root.addEventListener('scroll', () => this.#plan(), { passive: true });
    this.#box.addEventListener('keydown', (event) => this.#press(event));
    this.#box.addEventListener('click', (event) => this.#click(event));
    this.#box.addEventListener('dblclick', (event) => {
      if (this.#indexAt(event) !== undefined) options.onInsert();
    });
    this.#box.addEventListener('focus', () => this.#activate(this.#activeIndex()));
    new ResizeObserver(() => this.#plan()).observe(this.root);
  }

  /** Draws the current list and selection. */
  update(): void {
    this.#plan();
  }

  /** Draws without waiting for a frame, of which a page in the background gets none. */
  updateNow(): void {
    window.cancelAnimationFrame(this.#frame);
    this.#draw();
  }

  /** Scrolls to the top. */
  rewind(): void {
    this.#active = undefined;
    this.root.scrollTop = 0;
    this.#plan();
  }

  #plan(): void {
    window.cancelAnimationFrame(this.#frame);
    this.#frame = window.requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    const { list, selection } = this.#options;
    const { items } = list;
    // A listbox without options is invalid.
    this.#box.hidden = items.length === 0;
    this.#measure();
    const active = this.#activeIndex();
    if (this.#mustReveal) this.#reveal(active);
    const { first, last } = this.#seen();
    for (const [index, { tile, file_id }] of this.#tiles) {
      const isHere = index >= first && index < last && items[index]?.file_id === file_id;
      if (isHere) continue;
      tile.remove();
      this.#tiles.delete(index);
    }
    for (let index = first; index < last; index += 1) this.#place(index);
    for (const [index, { tile }] of this.#tiles) {
      const file = items[index];
      const isSelected = file !== undefined && selection.has(file);
      tile.root.setAttribute('aria-selected', String(isSelected));
      tile.root.toggleAttribute('data-active', index === active);
    }
    this.#tellActive(active);
    const rowsLeft = (items.length - last) / this.#shape.columns;
    if (list.state === 'more' && rowsLeft < ROWS_LEFT) void list.loadMore();
  }

  #measure(): void {
    const width = this.#box.clientWidth;
    const columns = Math.max(2, Math.floor((width + TILE_GAP) / (TILE_WIDTH_MIN + TILE_GAP)));
    this.#shape = { columns, side: Math.floor((width - (columns - 1) * TILE_GAP) / columns) };
    const rows = Math.ceil(this.#options.list.items.length / columns);
    this.#box.style.height = `${Math.max(0, rows * this.#rowHeight() - TILE_GAP)}px`;
  }

  #rowHeight(): number {
    return this.#shape.side + CAPTION_HEIGHT + TILE_GAP;
  }

  #seen(): { first: number; last: number } {
    const { scrollTop, clientHeight } = this.root;
    const { columns } = this.#shape;
    const top = Math.max(0, Math.floor(scrollTop / this.#rowHeight()) - ROWS_BESIDE);
    const rows = Math.ceil(clientHeight / this.#rowHeight()) + 2 * ROWS_BESIDE + 1;
    const last = Math.min(this.#options.list.items.length, (top + rows) * columns);
    return { first: top * columns, last };
  }

  #place(index: number): void {
    const { list } = this.#options;
    const file = list.items[index];
    if (file === undefined) return;
    const known = this.#tiles.get(index);
    const findThumbnail = (wanted: LibraryFile) => list.findThumbnail(wanted);
    const tile = known?.tile ?? createTile(file, { findThumbnail });
    const { columns, side } = this.#shape;
    const left = (index % columns) * (side + TILE_GAP);
    const top = Math.floor(index / columns) * this.#rowHeight();
    const { root } = tile;
    root.style.transform = `translate(${left}px, ${top}px)`;
    root.style.width = `${side}px`;
    root.dataset['index'] = String(index);
    root.setAttribute('aria-posinset', String(index + 1));
    // The total is unknown until the end of the list.
    root.setAttribute('aria-setsize', list.state === 'whole' ? String(list.items.length) : '-1');
    if (known !== undefined) return;
    root.id = `file-${file.file_id}`;
    this.#tiles.set(index, { tile, file_id: file.file_id });
    this.#insert(index, root);
  }

  /** Inserts in the order of the images, which screen readers follow. */
  #insert(index: number, root: HTMLElement): void {
    const after = [...this.#box.children].find(
      (each) => Number((each as HTMLElement).dataset['index']) > index,
    );
    this.#box.insertBefore(root, after ?? null);
  }

  #activeIndex(): number {
    if (this.#active === undefined) return 0;
    return Math.max(0, this.#indexOf(this.#active));
  }

  #indexOf(wanted: string): number {
    return this.#options.list.items.findIndex(({ file_id }) => file_id === wanted);
  }

  #activate(index: number): void {
    this.#active = this.#options.list.items[index]?.file_id;
    this.#plan();
  }

  #tellActive(active: number): void {
    const known = this.#tiles.get(active);
    if (known === undefined) this.#box.removeAttribute('aria-activedescendant');
    else this.#box.setAttribute('aria-activedescendant', known.tile.root.id);
  }

  #press(event: KeyboardEvent): void {
    const { list, onInsert, selection, select } = this.#options;
    const active = this.#activeIndex();
    const file = list.items[active];
    if (event.key === ' ' && file !== undefined) {
      event.preventDefault();
      selection.toggle(file);
      return;
    }
    if (event.key === 'Enter' && file !== undefined) {
      event.preventDefault();
      if (select === 'one' || selection.files.length === 0) selection.choose(file);
      onInsert();
      return;
    }
    const target = targetOf(event.key, this.#steps(active));
    if (target === undefined) return;
    event.preventDefault();
    this.#mustReveal = true;
    this.#activate(target);
  }

  #steps(active: number): Steps {
    const { columns } = this.#shape;
    const rows = Math.max(1, Math.floor(this.root.clientHeight / this.#rowHeight()));
    return { active, count: this.#options.list.items.length, columns, rows };
  }

  /** Scrolls as little as necessary to show the whole active image. */
  #reveal(active: number): void {
    this.#mustReveal = false;
    const top = Math.floor(active / this.#shape.columns) * this.#rowHeight();
    const { scrollTop, clientHeight } = this.root;
    const bottom = top + this.#rowHeight() + TILE_GAP;
    if (top < scrollTop) this.root.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.root.scrollTop = bottom - clientHeight;
  }

  /** Undefined between images. */
  #indexAt({ target }: MouseEvent): number | undefined {
    const tile = target instanceof Element ? target.closest('[data-index]') : null;
    return tile instanceof HTMLElement ? Number(tile.dataset['index']) : undefined;
  }

  #click(event: MouseEvent): void {
    // By the tile as drawn, because the list may have changed since.
    const drawn = this.#tiles.get(this.#indexAt(event) ?? -1)?.file_id ?? '';
    const index = this.#indexOf(drawn);
    const file = this.#options.list.items[index];
    if (file === undefined) return;
    this.#activate(index);
    const { select, selection } = this.#options;
    // The second click of a double click must not deselect what the first one selected.
    if (select === 'many' && event.detail < 2) selection.toggle(file);
    else selection.choose(file);
  }
}
