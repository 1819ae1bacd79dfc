/** Runs tasks one after another, in the order of the calls. A task that fails does not stop later ones. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as the task does. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** Runs one task, once at a time. Calls during a run share the next run, so each is answered by a run that began after it. */
export class SharedRun {
  readonly #task: () => Promise<void>
  readonly #runs = new Serial()
  #next: Promise<void> | undefined

  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Settles as that run does. */
  run(): Promise<void> {
    this.#next ??= this.#runs.run(() => {
      this.#next = undefined
      return this.#task()
    })
    return this.#next
  }
}
