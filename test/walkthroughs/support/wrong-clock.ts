/** Loaded into a process with NODE_OPTIONS, to make its clock run CLOCK_LEAD_MS ahead. */
const lead = Number(process.env['CLOCK_LEAD_MS'] ?? 0);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...words: unknown[]) {
    if (words.length === 0) super(RightDate.now() + lead);
    // Dates with arguments are passed to the original constructor unchanged.
    else super(...(words as [number]));
  }
  static override now(): number {
    return RightDate.now() + lead;
  }
} as DateConstructor;
