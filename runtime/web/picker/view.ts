/** The picker's layout: search and upload at the top, images in the middle, the selection at the bottom. */
import type { PickerSettings } from '../../sdk/picker-protocol.ts';
import { element, signButton } from './element.ts';
import { FileList } from './file-list.ts';
import { Grid } from './grid.ts';
import { type LibraryFile, listFiles } from './library-api.ts';
import { keepFilesOut, receiveFiles } from './receive-files.ts';
import { Selection } from './selection.ts';
import type { Session } from './session.ts';
import { errorText, type Texts } from './texts.ts';
import { UploadPanel } from './upload-panel.ts';
import { type UploadRow, Uploads } from './uploads.ts';

export type ViewEvents = {
  readonly onSelect: (files: readonly LibraryFile[]) => void;
  readonly onUpload: (row: UploadRow) => void;
  readonly onError: (code: string, message: string) => void;
  readonly onClose: () => void;
};

const ACCEPTED =
  'image/jpeg,image/png,image/webp,image/avif,image/gif,image/tiff,image/bmp,image/svg+xml';
const TYPING_MS = 250;
const SEARCH_LENGTH_MIN = 2;

type Terms = { session: Session; settings: PickerSettings; texts: Texts; events: ViewEvents };

export function showPicker(terms: Terms): void {
  const { session, settings, texts, events } = terms;
  const select = settings.select === 'many' ? 'many' : 'one';
  const status = element('p', { class: 'status', role: 'status' });
  const empty = element('p', { class: 'empty', 'aria-hidden': 'true' });
  const insert = element('button', { type: 'button', class: 'insert', disabled: '' }, [
    texts.insert,
  ]);
  const again = element('button', { type: 'button', class: 'again', hidden: '' }, [texts.again]);
  const say = () => {
    status.textContent = sentence(texts, { list, selection, session });
    empty.textContent = list.items.length === 0 ? listSentence(texts, { list, session }) : '';
    // If both texts are equal, one is announced and the other one shown.
    status.classList.toggle('unseen', empty.textContent === status.textContent);
    insert.disabled = selection.files.length === 0;
    insert.textContent = texts.insertCount(selection.files.length);
    again.hidden = list.state !== 'failed';
    grid.update();
  };
  const list: FileList = new FileList({
    find: (page) => listFiles(session, page),
    tokenNow: () => session.token,
    onChange: say,
    onFailed: (code) => events.onError(code, errorText(texts, code)),
  });
  const selection: Selection = new Selection(select, say);
  const finish = () => selection.files.length > 0 && events.onSelect(selection.files);
  const grid = new Grid({ list, selection, texts, select, onInsert: finish });
  insert.addEventListener('click', finish);
  again.addEventListener('click', () => void list.loadMore());
  const panel = showUploads({ ...terms, list, selection });
  const news = panel === undefined ? [] : [panel.news];
  const bottom = element('footer', {}, [status, ...news, again, insert]);
  const top = element('header', {}, [
    element('h1', { class: 'unseen' }, [texts.title]),
    ...(session.may('browse') ? [searchField({ texts, list, grid })] : []),
    ...(panel === undefined ? [] : [panel.button]),
    closeButton(terms),
  ]);
  const place = element('main', {}, [grid.root, empty]);
  document.body.append(top, place, ...(panel === undefined ? [] : [panel.root]), bottom);
  if (session.may('browse')) list.restart('');
  else list.state = 'whole';
  say();
  watchSession({ session, list, selection, grid, panel });
}

type Held = {
  session: Session;
  list: FileList;
  selection: Selection;
  grid: Grid;
  panel: ReturnType<typeof showUploads>;
};

/** Removes what is shown of the library when the session has ended, and lists it again with the next one. */
function watchSession({ session, list, selection, grid, panel }: Held): void {
  session.watch({
    onEnd: (code) => {
      panel?.forget();
      selection.clear();
      if (session.may('browse')) list.close(code);
      grid.updateNow();
    },
    onToken: () => list.state === 'failed' && list.items.length === 0 && list.restart(list.search),
  });
}

function closeButton({ texts, events }: Terms): HTMLElement {
  const button = signButton('×', texts.close);
  button.addEventListener('click', events.onClose);
  document.addEventListener('keydown', (event) => {
    // Controls with a use for Escape, such as a filled search field, handle it first.
    if (event.key === 'Escape' && !event.defaultPrevented) events.onClose();
  });
  return button;
}

function searchField({ texts, list, grid }: { texts: Texts; list: FileList; grid: Grid }) {
  const field = element('input', {
    type: 'search',
    placeholder: texts.search,
    'aria-label': texts.search,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  let timer = 0;
  const look = () => {
    const typed = field.value.trim();
    // A single letter matches too much, and the service refuses it.
    const search = [...typed].length < SEARCH_LENGTH_MIN ? '' : typed;
    if (search === list.search) return;
    list.restart(search);
    grid.rewind();
  };
  field.addEventListener('input', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(look, TYPING_MS);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || field.value === '') return;
    event.preventDefault();
    field.value = '';
    look();
  });
  return field;
}

type Shown = Terms & { list: FileList; selection: Selection };

/** Undefined if the session may not upload. */
function showUploads({ session, texts, events, list, selection }: Shown) {
  if (!session.may('upload')) {
    keepFilesOut();
    return undefined;
  }
  const uploads: Uploads = new Uploads(session, {
    onChange: (row) => panel.update(row),
    onStatus: (row) => {
      events.onUpload(row);
      if (row.result === null) return;
      if (session.may('browse')) list.prepend(row.result);
      selection.choose(row.result);
    },
  });
  const panel = new UploadPanel(uploads, texts, () => button.focus());
  const take = (files: readonly File[]) => uploads.add(files);
  const input = element('input', { type: 'file', multiple: '', accept: ACCEPTED, hidden: '' });
  input.addEventListener('change', () => {
    take([...(input.files ?? [])]);
    // Lets a person choose the same file again.
    input.value = '';
  });
  const button = element('button', { type: 'button', class: 'upload' }, [texts.upload, input]);
  button.addEventListener('click', (event) => event.target !== input && input.click());
  receiveFiles(texts, take);
  return { root: panel.root, news: panel.news, button, forget: () => uploads.dismissReady() };
}

function sentence(
  texts: Texts,
  { list, selection, session }: { list: FileList; selection: Selection; session: Session },
): string {
  const isChosen = list.state !== 'failed' && selection.files.length > 0;
  return isChosen ? texts.selected(selection.files.length) : listSentence(texts, { list, session });
}

function listSentence(
  texts: Texts,
  { list, session }: { list: FileList; session: Session },
): string {
  if (list.state === 'failed') return errorText(texts, list.code);
  const count = list.items.length;
  if (count > 0) return texts.shown(count, list.state === 'whole' ? '' : '+');
  if (list.state !== 'whole') return texts.loading;
  if (list.search !== '') return texts.emptySearch(list.search);
  return session.may('upload') ? texts.emptyUploads : texts.emptyLibrary;
}
