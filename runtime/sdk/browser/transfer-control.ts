/** Pauses, resumes and ends one upload: a signal stops the work under way, and a resume starts it again. */
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

  /** Runs the work, and runs it again after each pause; throws the error that ended it. */
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

/** Holds the work during a pause. */
type Gate = { readonly opened: Promise<void>; readonly open: () => void };

function makeGate(): Gate {
  let open: () => void = () => undefined;
  // Browsers of 2023 lack Promise.withResolvers.
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
