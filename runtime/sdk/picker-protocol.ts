/**
 * The messages between the picker's page and the page that embeds it, by postMessage, version 1. Both sides check the
 * sender's origin and window, the channel, which is new with every load of the frame, and the number, which only
 * increases. Repeated and foreign messages are ignored. This file imports nothing.
 */

/** On every message in either direction. */
export type Stamp = {
  readonly tintype: 'picker';
  readonly v: 1;
  /** Random, chosen by the frame when it is ready. */
  readonly channel: string;
  /** Counts from 1, separately for each side. */
  readonly number: number;
};

/** A file as the picker returns it. */
export type PickedFile = {
  readonly file_slug: string;
  readonly file_id: string;
  readonly revision: number;
  readonly width: number;
  readonly height: number;
  readonly title: string | null;
  readonly alt_text: string | null;
  readonly folder: string;
  readonly original_filename: string | null;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly url: string;
  readonly thumbnail_url: string;
};

export type PickerUpload = {
  readonly name: string;
  readonly status: 'sending' | 'processing' | 'ready' | 'failed' | 'canceled';
  /** Set once the upload is ready. */
  readonly file: PickedFile | null;
  /** Set once the upload has failed. */
  readonly code: string | null;
};

/** How the picker looks and how many files it lets a person choose. */
export type PickerSettings = {
  /** Default `one`. */
  readonly select?: 'one' | 'many';
  /** Default: the browser's language if it is one of these, otherwise `en`. */
  readonly language?: 'en' | 'de';
  /** Default: the system's theme. */
  readonly theme?: 'light' | 'dark';
};

/** From the frame to the page. */
export type FrameMessage =
  /** The frame is listening: send it a session. */
  | { readonly type: 'ready' }
  /** The session ends soon or has ended: send a new one. */
  | { readonly type: 'refresh'; readonly code: string }
  | { readonly type: 'select'; readonly files: readonly PickedFile[] }
  | { readonly type: 'upload'; readonly upload: PickerUpload }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The person closed the picker without choosing. */
  | { readonly type: 'close' };

/** From the page to the frame. */
export type HostMessage = {
  readonly type: 'session';
  readonly token: string;
  readonly settings: PickerSettings;
};
