/**
 * Reads commands, numbers and flags of path data character by character: regular expressions tried at each place take
 * ten times as long, and a path may have a million numbers. SVG 2, Paths.
 */
export class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  command(): string | undefined {
    this.#skipSpace();
    const letter = this.#text.charAt(this.#at);
    if (!isLetter(this.#text.charCodeAt(this.#at))) return undefined;
    this.#at += 1;
    return letter;
  }

  number(): number | undefined {
    this.#skipSpace();
    const end = numberEnd(this.#text, this.#at);
    if (end === this.#at) return undefined;
    const number = Number(this.#text.slice(this.#at, end));
    this.#at = end;
    return number;
  }

  /** One digit, which the next number may follow directly. */
  flag(): number | undefined {
    this.#skipSpace();
    const flag = this.#text.charCodeAt(this.#at) - ZERO;
    if (flag !== 0 && flag !== 1) return undefined;
    this.#at += 1;
    return flag;
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }
}

const [ZERO, NINE] = [48, 57];
const [COMMA, DOT, PLUS, MINUS] = [44, 46, 43, 45];
const [SPACE, TAB, RETURN, ASCII_MAX] = [32, 9, 13, 127];
/** The bit that makes a letter lower case. */
const SMALL = 32;
const [A, E, Z] = [97, 101, 122];

/**
 * The end of a number (sign, digits with or without a dot, exponent), or `begin` if there is none.
 */
function numberEnd(text: string, begin: number): number {
  const signed = isSign(text.charCodeAt(begin)) ? begin + 1 : begin;
  const whole = digitsEnd(text, signed);
  const hasDot = text.charCodeAt(whole) === DOT;
  const end = hasDot ? digitsEnd(text, whole + 1) : whole;
  const digits = end - signed - (hasDot ? 1 : 0);
  return digits === 0 ? begin : powerEnd(text, end);
}

function powerEnd(text: string, begin: number): number {
  if ((text.charCodeAt(begin) | SMALL) !== E) return begin;
  const signed = isSign(text.charCodeAt(begin + 1)) ? begin + 2 : begin + 1;
  const end = digitsEnd(text, signed);
  return end === signed ? begin : end;
}

function digitsEnd(text: string, begin: number): number {
  let at = begin;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
    at += 1;
  }
  return at;
}

function isSign(code: number): boolean {
  return code === PLUS || code === MINUS;
}

function isLetter(code: number): boolean {
  const small = code | SMALL;
  return small >= A && small <= Z && code <= ASCII_MAX;
}

/** White space as in regular expressions, and the comma. */
function isSpace(code: number): boolean {
  if (code === SPACE || code === COMMA) return true;
  if (code <= ASCII_MAX) return code >= TAB && code <= RETURN;
  return code > ASCII_MAX && /\s/.test(String.fromCharCode(code));
}
