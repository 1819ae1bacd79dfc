import { Unavailable } from '../../../core/failure.ts'
import type { Cancel } from '../../../ports/clock.ts'

interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (cause: Error) => void
  readonly cancelDeadline: Cancel
}

/** Calls of a thread that wait for their answer; each ends once. */
export class PendingCalls {
  readonly #calls = new Map<number, Pending>()

  add(id: number, call: Pending): void {
    this.#calls.set(id, call)
  }

  answer(id: number, value: unknown): void {
    this.#take(id)?.resolve(value as never)
  }

  fail(id: number, reason: string): void {
    this.#take(id)?.reject(new Unavailable('store', new Error(reason)))
  }

  failAll(reason: string): void {
    for (const id of this.#calls.keys()) this.fail(id, reason)
  }

  #take(id: number): Pending | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    call?.cancelDeadline()
    return call
  }
}
