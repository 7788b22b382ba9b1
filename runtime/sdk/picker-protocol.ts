/**
 * What the picker's page and the page that shows it say to each other, by postMessage, version 1. Both sides look at
 * the sender's origin and window, at the channel, which is new with every load of the frame, and at the number, which
 * only grows: what is repeated or comes from elsewhere is passed over. This file imports nothing.
 */

/** On every message, either way. */
export type Stamp = {
  readonly tintype: 'picker';
  readonly v: 1;
  /** Random, chosen by the frame when it is ready. */
  readonly channel: string;
  /** From 1, by each side for itself. */
  readonly number: number;
};

/** A file as the picker hands it out. */
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
  /** Once it is ready. */
  readonly file: PickedFile | null;
  /** Once it has failed. */
  readonly code: string | null;
};

/** How the picker looks and what it lets choose. */
export type PickerSettings = {
  /** Default `one`. */
  readonly select?: 'one' | 'many';
  /** Default: the browser's, where there is one of them. */
  readonly language?: 'en' | 'de';
  /** Default: the system's. */
  readonly theme?: 'light' | 'dark';
};

/** From the frame to the page. */
export type FrameMessage =
  /** The frame listens now: hand it a session. */
  | { readonly type: 'ready' }
  /** Its session ends soon, or has ended: hand it a new one. */
  | { readonly type: 'refresh'; readonly code: string }
  | { readonly type: 'select'; readonly files: readonly PickedFile[] }
  | { readonly type: 'upload'; readonly upload: PickerUpload }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The person is done without choosing. */
  | { readonly type: 'close' };

/** From the page to the frame. */
export type HostMessage = {
  readonly type: 'session';
  readonly token: string;
  readonly settings: PickerSettings;
};
