/** Pause, resume and the end of one upload: what is under way is stopped by a signal, and begun again after a pause. */
import { clientError, type UploadError } from './upload-error.ts';

export class TransferControl {
  #controller = new AbortController();
  #gate: Gate | undefined;
  #end: UploadError | undefined;

  pause(): void {
    if (this.#end !== undefined || this.#gate !== undefined) return;
    this.#gate = makeGate();
    this.#controller.abort(clientError('aborted'));
  }

  resume(): void {
    if (this.#end !== undefined || this.#gate === undefined) return;
    const { open } = this.#gate;
    this.#gate = undefined;
    this.#controller = new AbortController();
    open();
  }

  end(code: 'aborted' | 'detached'): void {
    if (this.#end !== undefined) return;
    this.#end = clientError(code);
    this.#controller.abort(this.#end);
    this.#gate?.open();
  }

  /** Does the work, and once more after each pause; throws what ended it. */
  async run<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    for (;;) {
      const { signal } = this.#controller;
      try {
        if (!signal.aborted) return await work(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      await this.#gate?.opened;
      if (this.#end !== undefined) throw this.#end;
    }
  }
}

/** What a pause waits at. */
type Gate = { readonly opened: Promise<void>; readonly open: () => void };

function makeGate(): Gate {
  let open: () => void = () => undefined;
  // Promise.withResolvers is not in browsers of 2023.
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
