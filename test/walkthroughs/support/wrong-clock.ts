/** Loaded before a process by NODE_OPTIONS: its clock goes on, CLOCK_LEAD_MS ahead of the machine's. */
const lead = Number(process.env['CLOCK_LEAD_MS'] ?? 0);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...words: unknown[]) {
    if (words.length === 0) super(RightDate.now() + lead);
    // What is said of a date is as Date's own constructor takes it.
    else super(...(words as [number]));
  }
  static override now(): number {
    return RightDate.now() + lead;
  }
} as DateConstructor;
