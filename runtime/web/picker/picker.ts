/**
 * Entry of the picker's page: announces that it is ready, receives a session from the embedding page, and shows the
 * library. Spec: Library sessions and the picker.
 */
import type { PickedFile, PickerSettings, PickerUpload } from '../../sdk/picker-protocol.ts';
import { type HostChannel, openHostChannel } from './host-channel.ts';
import type { LibraryFile } from './library-api.ts';
import { Session } from './session.ts';
import { chooseLanguage, textsOf } from './texts.ts';
import type { UploadRow } from './uploads.ts';
import { showPicker } from './view.ts';

start();

function start(): void {
  const page = document.documentElement;
  const session = new Session((code) => channel?.send({ type: 'refresh', code }));
  let isShown = false;
  const channel = openHostChannel(page.dataset['origin'] ?? '', ({ token, settings }) => {
    session.take(token);
    if (isShown || channel === undefined) return;
    isShown = true;
    show(session, settings, channel);
  });
  if (channel === undefined) {
    const [language, texts] = languageOf({});
    page.lang = language;
    document.body.textContent = texts.notFramed;
    return;
  }
  channel.send({ type: 'ready' });
}

function show(session: Session, settings: PickerSettings, channel: HostChannel): void {
  const page = document.documentElement;
  const [language, texts] = languageOf(settings);
  page.lang = language;
  if (settings.theme !== undefined) page.dataset['theme'] = settings.theme;
  document.title = texts.title;
  showPicker({
    session,
    settings,
    texts,
    events: {
      onSelect: (files) => channel.send({ type: 'select', files: files.map(asPicked) }),
      onUpload: (row) => channel.send({ type: 'upload', upload: asUpload(row) }),
      onError: (code, message) => channel.send({ type: 'error', code, message }),
      onClose: () => channel.send({ type: 'close' }),
    },
  });
}

function languageOf({ language }: PickerSettings) {
  const chosen = chooseLanguage(language === undefined ? navigator.languages : [language]);
  return [chosen, textsOf(chosen)] as const;
}

/** Removes the fields that only the picker needs. */
function asPicked({ dominant_color: _color, thumb_hash: _hash, ...file }: LibraryFile): PickedFile {
  return file;
}

function asUpload({ file, status, result, code }: UploadRow): PickerUpload {
  return {
    name: file.name,
    status: status === 'queued' ? 'sending' : status,
    file: result === null ? null : asPicked(result),
    code,
  };
}
