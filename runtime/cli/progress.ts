/** One line per file: a moving bar on a terminal, and only the outcome if the output is a file or a pipe. */
import { styleText } from 'node:util';

export type Progress = {
  /** The sent share, 0..1. */
  at(share: number): void;
  note(text: string): void;
  /** Prints a line of its own, whatever the output is. */
  say(text: string): void;
  done(text: string): void;
  failed(text: string): void;
};

const BAR_CELLS = 24;
const NAME_CELLS = 32;

export function showProgress(file: string, out: NodeJS.WriteStream = process.stderr): Progress {
  // As a shell writes an empty word.
  const name = printable(file) || "''";
  const title =
    name.length > NAME_CELLS ? `…${name.slice(1 - NAME_CELLS)}` : name.padEnd(NAME_CELLS);
  const draw = (text: string) => {
    if (out.isTTY) out.write(`\r\u001b[K${title} ${text}`);
  };
  const end = (text: string) =>
    out.write(out.isTTY ? `\r\u001b[K${title} ${text}\n` : `${title} ${text}\n`);
  return {
    at: (share) => draw(`${bar(share)} ${Math.floor(share * 100)} %`),
    note: (text) => draw(styleText('dim', printable(text), { stream: out })),
    say: (text) => end(printable(text)),
    done: (text) => end(styleText('green', `✓ ${printable(text)}`, { stream: out })),
    failed: (text) => end(styleText('red', `✗ ${printable(text)}`, { stream: out })),
  };
}

/**
 * A file's name, or a message about it, may contain characters that move the cursor or change the
 * terminal's colors.
 */
function printable(name: string): string {
  return name.replaceAll(/\p{C}/gu, '?');
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)}`;
}
