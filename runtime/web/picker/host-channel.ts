/**
 * The message channel to the embedding page. It accepts messages only from one origin and one window, the direct and
 * topmost parent, and drops repeated ones and those of another load of the frame. Spec: Library sessions and the
 * picker.
 */
import type {
  FrameMessage,
  HostMessage,
  PickerSettings,
  Stamp,
} from '../../sdk/picker-protocol.ts';
import { randomName } from './random-name.ts';

export type HostChannel = {
  send(message: FrameMessage): void;
};

export type Handed = { readonly token: string; readonly settings: PickerSettings };

/** Undefined if this page is not embedded directly by a top-level page. */
export function openHostChannel(
  registered: string,
  onSession: (session: Handed) => void,
): HostChannel | undefined {
  const host = window.parent;
  if (host === window || host !== window.top) return undefined;
  // Normalized as browsers do: http://localhost:80 becomes http://localhost.
  const { origin } = new URL(registered);
  const channel = randomName();
  let sent = 0;
  let heard = 0;
  window.addEventListener('message', ({ data, origin: from, source }: MessageEvent<unknown>) => {
    if (from !== origin || source !== host || !isSession(data)) return;
    if (data.channel !== channel || data.number <= heard) return;
    heard = data.number;
    onSession({ token: data.token, settings: data.settings });
  });
  return {
    send: (message) => {
      sent += 1;
      const stamp: Stamp = { tintype: 'picker', v: 1, channel, number: sent };
      host.postMessage({ ...message, ...stamp }, origin);
    },
  };
}

function isSession(data: unknown): data is Stamp & HostMessage {
  if (typeof data !== 'object' || data === null) return false;
  const { tintype, v, type, token, number, settings } = data as Partial<Stamp & HostMessage>;
  const isOurs = tintype === 'picker' && v === 1 && type === 'session';
  const isWhole = typeof token === 'string' && typeof number === 'number';
  return isOurs && isWhole && typeof settings === 'object' && settings !== null;
}
