import type { Bus } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

/** Maximum time from the receipt of bars to the start of their write. */
export const writeDelayMaxMs = 50

/**
 * Delays the writes of bars that are published first, so that frames do not wait for the store's work. All waiting
 * writes start together, in their order: when no publication was under way for a turn of the event loop, or when the
 * oldest reaches its maximum. In `fxd all` a publication is under way until its frames are written.
 */
export class WriteDelay {
  readonly #clock: Clock
  readonly #bus: Pick<Bus, 'handled'>
  #waiting: (() => void)[] = []
  #publishing = 0
  #count = 0
  #cancelMaximum: Cancel = () => undefined
  #isEnded = false

  constructor(clock: Clock, bus: Pick<Bus, 'handled'>) {
    this.#clock = clock
    this.#bus = bus
  }

  /** Resolves when the write of bars may start that were received at `receivedMs` and are being published. */
  pass(published: Promise<unknown>, receivedMs: number): Promise<void> {
    if (this.#isEnded) return Promise.resolve()
    this.#publishing += 1
    this.#count += 1
    const settled = (): void => {
      this.#publishing -= 1
      const count = this.#count
      // It does not start if another publication began meanwhile.
      if (this.#publishing === 0) this.#clock.soon(() => void (count === this.#count && this.#start()))
    }
    const handled = (): Promise<void> | undefined => this.#bus.handled?.()
    published.then(handled, handled).then(settled, settled)
    if (this.#waiting.length === 0) {
      const leftMs = receivedMs + writeDelayMaxMs - this.#clock.monotonicMs()
      this.#cancelMaximum = this.#clock.after(Math.max(0, leftMs), () => this.#start())
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Starts all waiting writes; later ones are not delayed. */
  end(): void {
    this.#isEnded = true
    this.#start()
  }

  #start(): void {
    this.#cancelMaximum()
    const waiting = this.#waiting
    this.#waiting = []
    for (const start of waiting) start()
  }
}
