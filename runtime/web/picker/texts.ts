/**
 * All texts of the picker by language, and the refusals that are final. A new language is one more table, which the
 * compiler checks for completeness.
 */

const en = {
  title: 'Images',
  search: 'Search images',
  upload: 'Upload',
  drop: 'Drop images to upload them',
  emptyLibrary: 'There are no images here yet.',
  emptyUploads: 'Drop images here, paste them, or choose some.',
  emptySearch: (text: string) => `No image matches “${text}”.`,
  loading: 'Loading images …',
  shown: (count: number, more: string) => `${count}${more} ${count === 1 ? 'image' : 'images'}`,
  selected: (count: number) => `${count} selected`,
  insert: 'Insert',
  insertCount: (count: number) => (count < 2 ? 'Insert' : `Insert ${count}`),
  close: 'Close',
  cancel: (name: string) => `Cancel ${name}`,
  retry: (name: string) => `Try ${name} again`,
  dismiss: (name: string) => `Remove ${name} from this list`,
  uploads: 'Uploads',
  queued: 'Waiting',
  sending: (percent: number) => `${percent} %`,
  processing: 'Processing …',
  ready: 'Done',
  canceled: 'Canceled',
  again: 'Try again',
  tooLarge: (most: string) => `The file is too large: ${most} at most.`,
  notFramed: 'This page works only inside the page that opens it.',
  errors: {
    unsupported_content_type:
      'This type of file is not accepted. Choose JPEG, PNG, WebP, AVIF, GIF, TIFF, BMP or SVG.',
    unsupported_media_type: 'The image is not of the type that the file claims to be.',
    animated_not_supported: 'Animated images are not accepted.',
    file_too_large: 'The file is too large.',
    proxy_upload_too_large: 'The file is too large.',
    image_too_large: 'The image has too many pixels, or is too complex.',
    decode_failed: 'The image is damaged.',
    processing_timeout: 'The image took too long to process.',
    processing_abandoned: 'The image could not be processed.',
    ingest_size_mismatch: 'Not all of the file arrived. Try again.',
    ingest_object_missing: 'The file did not arrive. Try again.',
    upload_expired: 'The upload took too long. Try again.',
    signature_expired: 'The upload took too long. Try again.',
    upload_not_found: 'The upload has ended. Try again.',
    upload_not_pending: 'The upload has ended. Try again.',
    file_not_found: 'The image no longer exists.',
    session_upload_limit: 'No more uploads for now. Open the picker again later.',
    storage_quota_exceeded: 'The storage is full.',
    project_suspended: 'Uploads are off at the moment.',
    media_library_disabled: 'Uploads are off at the moment.',
    library_sessions_disabled: 'Images cannot be chosen at the moment.',
    signing_key_missing: 'The images cannot be shown at the moment.',
    permission_denied: 'You are not allowed to do this here.',
    filter_unavailable: 'This library is too large to be searched.',
    session_expired: 'Your session has ended. Open the picker again.',
    session_revoked: 'Your session was ended. Open the picker again.',
    minting_key_revoked: 'Your session was ended. Open the picker again.',
    invalid_session: 'Your session is not valid. Open the picker again.',
    storage_unavailable: 'The service has a problem at the moment. Try again in a minute.',
    query_timeout: 'That took too long. Try again in a minute.',
    rate_limited: 'Too many requests at once. Try again in a minute.',
    network_error: 'The connection failed. Check it and try again.',
  },
  unknown: (code: string) => `Something went wrong (${code}). Try again.`,
};

export type Texts = typeof en;

const de: Texts = {
  title: 'Bilder',
  search: 'Bilder suchen',
  upload: 'Hochladen',
  drop: 'Bilder zum Hochladen hier ablegen',
  emptyLibrary: 'Hier gibt es noch keine Bilder.',
  emptyUploads: 'Bilder hier ablegen, einfügen oder auswählen.',
  emptySearch: (text) => `Kein Bild passt zu „${text}“.`,
  loading: 'Bilder werden geladen …',
  shown: (count, more) => `${count}${more} ${count === 1 ? 'Bild' : 'Bilder'}`,
  selected: (count) => `${count} ausgewählt`,
  insert: 'Einfügen',
  insertCount: (count) => (count < 2 ? 'Einfügen' : `${count} einfügen`),
  close: 'Schließen',
  cancel: (name) => `Hochladen von ${name} abbrechen`,
  retry: (name) => `${name} noch einmal hochladen`,
  dismiss: (name) => `${name} aus dieser Liste entfernen`,
  uploads: 'Uploads',
  queued: 'Wartet',
  sending: (percent) => `${percent} %`,
  processing: 'Wird verarbeitet …',
  ready: 'Fertig',
  canceled: 'Abgebrochen',
  again: 'Noch einmal versuchen',
  tooLarge: (most: string) => `Die Datei ist zu groß: höchstens ${most}.`,
  notFramed: 'Diese Seite funktioniert nur innerhalb der Seite, die sie öffnet.',
  errors: {
    unsupported_content_type:
      'Dieser Dateityp wird nicht angenommen. Möglich sind JPEG, PNG, WebP, AVIF, GIF, TIFF, BMP und SVG.',
    unsupported_media_type: 'Die Datei ist kein Bild des Typs, den sie angibt.',
    animated_not_supported: 'Animierte Bilder werden nicht angenommen.',
    file_too_large: 'Die Datei ist zu groß.',
    proxy_upload_too_large: 'Die Datei ist zu groß.',
    image_too_large: 'Das Bild hat zu viele Pixel oder ist zu komplex.',
    decode_failed: 'Das Bild ist beschädigt.',
    processing_timeout: 'Die Verarbeitung des Bildes hat zu lange gedauert.',
    processing_abandoned: 'Das Bild konnte nicht verarbeitet werden.',
    ingest_size_mismatch:
      'Die Datei ist nicht vollständig angekommen. Bitte noch einmal versuchen.',
    ingest_object_missing: 'Die Datei ist nicht angekommen. Bitte noch einmal versuchen.',
    upload_expired: 'Der Upload hat zu lange gedauert. Bitte noch einmal versuchen.',
    signature_expired: 'Der Upload hat zu lange gedauert. Bitte noch einmal versuchen.',
    upload_not_found: 'Der Upload wurde beendet. Bitte noch einmal versuchen.',
    upload_not_pending: 'Der Upload wurde beendet. Bitte noch einmal versuchen.',
    file_not_found: 'Das Bild gibt es nicht mehr.',
    session_upload_limit:
      'Zurzeit sind keine weiteren Uploads möglich. Bitte die Bildauswahl später neu öffnen.',
    storage_quota_exceeded: 'Der Speicher ist voll.',
    project_suspended: 'Uploads sind zurzeit ausgeschaltet.',
    media_library_disabled: 'Uploads sind zurzeit ausgeschaltet.',
    library_sessions_disabled: 'Zurzeit können keine Bilder ausgewählt werden.',
    signing_key_missing: 'Die Bilder können zurzeit nicht angezeigt werden.',
    permission_denied: 'Das ist hier nicht erlaubt.',
    filter_unavailable: 'Diese Bibliothek ist zu groß für die Suche.',
    session_expired: 'Die Sitzung ist abgelaufen. Bitte die Bildauswahl neu öffnen.',
    session_revoked: 'Die Sitzung wurde beendet. Bitte die Bildauswahl neu öffnen.',
    minting_key_revoked: 'Die Sitzung wurde beendet. Bitte die Bildauswahl neu öffnen.',
    invalid_session: 'Die Sitzung ist ungültig. Bitte die Bildauswahl neu öffnen.',
    storage_unavailable:
      'Der Dienst ist zurzeit gestört. Bitte in einer Minute noch einmal versuchen.',
    query_timeout: 'Das hat zu lange gedauert. Bitte in einer Minute noch einmal versuchen.',
    rate_limited: 'Zu viele Anfragen auf einmal. Bitte in einer Minute noch einmal versuchen.',
    network_error: 'Die Verbindung ist fehlgeschlagen. Bitte prüfen und noch einmal versuchen.',
  },
  unknown: (code) => `Etwas ist schiefgegangen (${code}). Bitte noch einmal versuchen.`,
};

const tables = { en, de };

export type Language = keyof typeof tables;

/** The first wished language that has a table; English if none has. */
export function chooseLanguage(preferred: readonly string[]): Language {
  return preferred.map((tag) => tag.split('-', 1)[0] ?? '').find(isLanguage) ?? 'en';
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(tables, text);
}

export function textsOf(language: Language): Texts {
  return tables[language];
}

export function errorText({ errors, unknown }: Texts, code: string): string {
  const known: Readonly<Record<string, string>> = errors;
  return known[code] ?? unknown(code);
}

/** Codes with which the same file would be refused again. */
export const NOT_RETRYABLE: ReadonlySet<string | null> = new Set([
  'animated_not_supported',
  'decode_failed',
  'file_too_large',
  'image_too_large',
  'proxy_upload_too_large',
  'unsupported_content_type',
  'unsupported_media_type',
]);
